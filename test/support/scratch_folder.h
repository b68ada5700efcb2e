// A folder for the files of one test.

#pragma once

#include <string>
#include <vector>

namespace taper::test {

// A new folder, removed with everything in it on destruction.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  // Names in the folder, sorted.
  std::vector<std::string> files() const;

 private:
  std::string path_;
};

}  // namespace taper::test
