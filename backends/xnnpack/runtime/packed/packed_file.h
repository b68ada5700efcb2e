// Reads and writes packed weights, in a file (model.xnncache) or in the program. The format is
//
//   header | sections, one for each graph | entries, one for each packed weight | packed bytes
//
// Everything is little-endian, and packed bytes are aligned to 64 bytes. The header contains a hash
// of itself, the sections and the entries; each entry contains a hash of its bytes, which is
// checked when they are used. The hashes detect damage, truncation and mix-ups. Someone who writes
// a file with matching hashes can make results wrong, as they could with the model itself, but
// cannot make anything read outside the file: offsets and sizes are checked, and XNNPACK states how
// many bytes it is going to read.
//
// Hashing takes as long as running a small graph. So the first process that finds all bytes of a
// file to be correct records that in it, and later processes trust this note as long as the file is
// the same one and has not been written since (stamp_of()). A copy is hashed again.

#pragma once

#include <cstdint>

#include "taper/span.h"
#include "taper/status.h"

namespace taper::xnnpack {

// A packed weight. The entries of a graph are in the order in which XNNPACK requests them.
struct PackedEntry {
  uint64_t offset, size;
  uint64_t bytes_hash;   // Hash of the packed bytes.
  uint64_t kernel_hash;  // Hash of the weights before packing.
  uint64_t bias_hash;
  uint32_t seed;  // XNNPACK's identifier of the packing method.
  uint32_t unused;
};

// The entries of a graph.
struct PackedSection {
  uint64_t graph;   // Hash of its description.
  uint64_t method;  // Hash of the name of the method that contains it.
  uint32_t first_entry, entry_count;
};

// Packed weights in memory.
class PackedFile {
 public:
  // A file without entries.
  PackedFile() = default;

  // The version of the program file (DataLoader::version_of()) from which the weights are known to
  // have been packed; 0 if unknown. Weights in a file of that version need not be hashed.
  uint64_t program_version() const { return program_version_; }
  // True if the packed bytes need not be hashed, either.
  bool is_right() const { return is_right_; }

  // Checks everything but the packed bytes. Returns kDelegateInvalidCompatibility with the reason
  // if the file cannot be used. `kernels` is kernel_set(); `stamp` is the stamp of the file before
  // it was opened, or 0 if it has none.
  static Result<PackedFile> open(Span<const uint8_t> bytes, uint64_t kernels, uint64_t stamp = 0);

  Span<const PackedSection> sections() const { return sections_; }
  // The entries of one of its sections.
  Span<const PackedEntry> entries(const PackedSection& section) const {
    return entries_.subspan(section.first_entry, section.entry_count);
  }
  // The entries of the first section for a graph and method, or else of the first for the graph.
  Span<const PackedEntry> find(uint64_t graph, uint64_t method) const;
  Span<const uint8_t> bytes(const PackedEntry& entry) const {
    return bytes_.subspan(static_cast<size_t>(entry.offset), static_cast<size_t>(entry.size));
  }

 private:
  bool tables_hold() const;
  friend void note_right(const char*, const PackedFile&, uint64_t);

  Span<const uint8_t> bytes_;
  Span<const PackedSection> sections_;
  Span<const PackedEntry> entries_;
  uint64_t program_version_ = 0;
  uint64_t stamp_ = 0;
  bool is_right_ = false;
};

// Identifies a file and the time of its last change; 0 if that is unknown, as on Windows, or so
// recent that another change could have the same time.
uint64_t stamp_of(const char* path);

// The content of a file to be written: entries in the order of the sections, each with its bytes.
// Offsets are filled in; equal bytes are written once.
struct PackedContent {
  uint64_t kernels;
  uint64_t program_version;
  Span<PackedSection> sections;
  Span<PackedEntry> entries;
  Span<const uint8_t* const> bytes;
};

// Writes a file with another name beside `path` and renames it to `path`, so that readers see
// either the old or the new file. On failure returns kAccessFailed with the reason.
Status write_packed_file(const char* path, const PackedContent& content);

// Records in the file at `path` that all bytes of `file`, which is open, are correct and, unless
// `program_version` is 0, match a program of that version. Does nothing if it cannot write, or if
// the file has been replaced. Notes contain hashes, so a partial note has no effect.
void note_right(const char* path, const PackedFile& file, uint64_t program_version);

}  // namespace taper::xnnpack
