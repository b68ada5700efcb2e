// Output files that are written completely or not at all.
//
// Bytes go to a temporary file beside the target, which commit() renames over it: no reader sees a
// partial file, and a failed command leaves the previous file in place. Several files that belong
// together (a .pte and its .ptd) are renamed only after all of them have been written.
//
//   OutputFiles out;
//   out.add("model.pte", bytes);
//   out.add("model.ptd", weights);
//   out.commit();
//
// A target that is not a regular file (/dev/null, a pipe) is written directly by commit(), before
// any file is renamed. A signal that ends the program (Ctrl-C) removes the temporary files.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/interrupt.h"

namespace taper::tools {

class OutputFiles {
 public:
  OutputFiles() = default;
  // Is told how many bytes of a file have been written, for a display of progress.
  explicit OutputFiles(std::function<void(uint64_t done, uint64_t total)> progress)
      : progress_(std::move(progress)) {}
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles();  // Removes the temporary files that were not committed.

  // Writes the bytes, or the concatenated pieces, to a temporary file next to `path`. Throws an
  // InputError that names the path and the reason, also for a file that has been added already.
  void add(const std::string& path, std::string_view bytes);
  void add(const std::string& path, const std::vector<std::span<const uint8_t>>& pieces);
  // Moves every file into place. Throws InputError; files renamed before the failure stay renamed.
  void commit();

 private:
  struct Pending {
    std::string path, temporary;
    std::string direct_bytes;  // For a target that cannot be replaced by renaming.
    std::unique_ptr<RemovedOnSignal> removed_on_signal;
  };
  int create(const std::string& path, const std::string& temporary);
  void write_direct(const Pending& file) const;

  std::vector<Pending> pending_;
  std::function<void(uint64_t done, uint64_t total)> progress_;
};

// Whether both paths name one file, which need not exist yet.
bool is_same_file(const std::string& a, const std::string& b);

// Adds and commits one file.
void write_file(const std::string& path, std::string_view bytes);

// Returns the contents of a file. Throws an InputError that names the path and the reason.
std::string read_file(const std::string& path);
// Returns at most the first 64 bytes, which is enough to recognise the format.
std::string read_head(const std::string& path);

}  // namespace taper::tools
