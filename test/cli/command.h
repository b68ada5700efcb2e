// Runs a program of this build and captures its output.

#pragma once

#include <string>
#include <vector>

namespace taper::test {

struct Said {
  int code = -1;  // The exit code; 128 + the signal's number if a signal ended the program.
  std::string out, err;

  // The lines on stderr.
  std::vector<std::string> error_lines() const;
};

// `program` is "taper", "executor_runner" or a path. stdin is empty, and no stream is a terminal.
Said run(const std::string& program, const std::vector<std::string>& arguments);

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

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
