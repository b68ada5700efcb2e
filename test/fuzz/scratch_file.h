// A file of its own for this process, with given bytes, that is not left behind.

#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tools/temporary_file.h"

namespace taper::fuzz {

class ScratchFile {
 public:
  // `ending` may be what a reader tells kinds of files apart by: ".npz".
  ScratchFile(const char* name, std::string_view bytes, const char* ending = "")
      : file_((std::filesystem::temp_directory_path() / name).string()),
        path_(file_.path + ending) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { tools::system::remove_file(path_); }

  const std::string& path() const { return path_; }

 private:
  tools::TemporaryFile file_;
  std::string path_;
};

}  // namespace taper::fuzz
