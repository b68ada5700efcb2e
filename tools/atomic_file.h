// Output files, written whole or not at all.
//
// Bytes go to a temporary file beside the target and are renamed over it on commit(), so nobody
// ever sees half a file and a failed command leaves what was there before. Several files that
// belong together (a .pte and its .ptd) are renamed only after every one of them has been written.
//
//   OutputFiles out;
//   out.add("model.pte", bytes);
//   out.add("model.ptd", weights);
//   out.commit();
//
// A target that is no regular file (/dev/null, a pipe) is written directly, at commit().

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taper::tools {

class OutputFiles {
 public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles();  // Removes the temporary files of what was not committed.

  // Writes the bytes, or the pieces one after another, next to `path`. Throws InputError naming the
  // path and the reason.
  void add(const std::string& path, std::string_view bytes);
  void add(const std::string& path, const std::vector<std::span<const uint8_t>>& pieces);
  // Puts every file in its place. Throws InputError; what was renamed before the failure stays.
  void commit();

 private:
  struct Pending {
    std::string path, temporary;
    std::string direct_bytes;  // For a target that cannot be replaced by renaming.
  };
  std::vector<Pending> pending_;
};

// One file: add and commit.
void write_file(const std::string& path, std::string_view bytes);

// The whole of a file. Throws InputError naming the path and the reason.
std::string read_file(const std::string& path);
// At most its first 64 bytes: enough to tell what it is.
std::string read_head(const std::string& path);

}  // namespace taper::tools
