// Lays out a zip archive as PyTorch writes it: members stored, each at a multiple of 64 bytes, so
// that weights can be mapped.
//
//     [local header | name | padding | DATA] ... [central directory] [end records]
//
// Nothing is copied: an archive is a list of pieces, and large members stay where they are.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exir/emit/program_file.h"
#include "exir/frontend/blob.h"

namespace taper::exir {

class ZipWriter {
 public:
  // The bytes must outlive the pieces.
  void add(const std::string& name, Bytes bytes);
  void add_text(const std::string& name, std::string_view text);
  // Ends the archive. Archives and members beyond 4 GB get zip64 fields.
  FilePieces finish();

 private:
  struct Entry {
    std::string name;
    uint64_t offset = 0, size = 0;
    uint32_t crc = 0;
  };
  void begin_member(const std::string& name, Bytes bytes);

  FilePieces file_;
  std::vector<Entry> entries_;
};

}  // namespace taper::exir
