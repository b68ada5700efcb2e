// The form of packed weights in a file (model.xnncache) or in the program: read here, written here.
//
//   header | sections, one for each graph | entries, one for each packed weight | packed bytes
//
// Everything is little-endian and 64 bytes apart where it matters to the kernels. The header holds
// a hash of itself, the sections and the entries; every entry one of its bytes, which is checked
// when they are wanted. The hashes find damage, cuts and mix-ups. Someone who writes a file with
// hashes that fit can make results wrong, as they could with the model itself, but cannot make
// anything read outside the file: offsets and sizes are checked, and XNNPACK says how many bytes it
// is going to read.
//
// Hashing takes as long as a small graph runs. So the first process that finds all bytes of a file
// to be right notes that in it, and those after it believe the note as long as the file is the very
// one and has not been written to since (stamp_of()). A copy is hashed again.

#pragma once

#include <cstdint>

#include "taper/span.h"
#include "taper/status.h"

namespace taper::xnnpack {

// One packed weight. Entries of a graph stand in the order in which XNNPACK asks for them.
struct PackedEntry {
  uint64_t offset, size;
  uint64_t bytes_hash;   // Hash of the packed bytes.
  uint64_t kernel_hash;  // Hash of what was packed.
  uint64_t bias_hash;
  uint32_t seed;  // XNNPACK's for the way of packing.
  uint32_t unused;
};

struct PackedSection {
  uint64_t graph;   // Hash of its description.
  uint64_t method;  // Hash of the name of the method that it is in.
  uint32_t first_entry, entry_count;
};

class PackedFile {
 public:
  // No entries.
  PackedFile() = default;

  // The version of the program file (DataLoader::version_of()) that the weights are known to have
  // been packed from; 0 if none. Kernels in a file of that version need not be hashed.
  uint64_t program_version() const { return program_version_; }
  // The packed bytes need not be hashed either.
  bool is_right() const { return is_right_; }

  // Checks all but the packed bytes. kNotFound if there is nothing, kDelegateInvalidCompatibility
  // with the reason if it is of no use. `kernels` is kernel_set(), `stamp` that of the file from
  // before it was opened; 0: it has none.
  static Result<PackedFile> open(Span<const uint8_t> bytes, uint64_t kernels, uint64_t stamp = 0);

  Span<const PackedSection> sections() const { return sections_; }
  // The entries of one of its sections.
  Span<const PackedEntry> entries(const PackedSection& section) const {
    return entries_.subspan(section.first_entry, section.entry_count);
  }
  // The number of the first section of that graph and method, or else of the first of that graph.
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

// Stands for a file and when it was last written to; 0 if that is not known, or too short ago to
// tell the next change from the last one.
uint64_t stamp_of(const char* path);

// What is to be written: entries in the order of the sections, each with its bytes. Offsets are
// filled in; equal bytes are written once.
struct PackedContent {
  uint64_t kernels;
  uint64_t program_version;
  Span<PackedSection> sections;
  Span<PackedEntry> entries;
  Span<const uint8_t* const> bytes;
};

// Writes a file of another name beside `path` and renames it over that: whoever reads sees the old
// one or the new one. Returns kAccessFailed with the reason.
Status write_packed_file(const char* path, const PackedContent& content);

// Notes in the file at `path` that all bytes of `file`, which is open, are right, and fit a program
// of that version, if that is known. Does nothing if it cannot, or if another file is there now.
// Notes hold their own hashes: half of one is none.
void note_right(const char* path, const PackedFile& file, uint64_t program_version);

}  // namespace taper::xnnpack
