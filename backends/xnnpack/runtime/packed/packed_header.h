// The header of packed weights, for the reader and the writer.

#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/xnnpack/runtime/packed/packed_file.h"
#include "taper/content_hash.h"

namespace taper::xnnpack {

inline constexpr char kPackedMagic[] = "TPRXNC02";
inline constexpr size_t kPackedAlignment = 64;  // The largest alignment that a kernel needs.

struct PackedHeader {
  char magic[8];
  uint64_t tables_hash;  // Hash of the next fields, the sections and the entries.
  uint64_t file_size;
  uint64_t kernels;
  uint32_t section_count, entry_count;
  // The notes are written later than the rest, and are not hashed with it.
  uint64_t stamp_hash;
  uint64_t program_version;
  uint64_t note_hash;
};
static_assert(sizeof(PackedHeader) == 64 && sizeof(PackedSection) == 24 &&
                  sizeof(PackedEntry) == 48,
              "these are the bytes of a file");

inline uint64_t tables_size(uint64_t sections, uint64_t entries) {
  return sizeof(PackedHeader) + sections * sizeof(PackedSection) + entries * sizeof(PackedEntry);
}

// The hash of a version or a stamp that is recorded in a file.
inline uint64_t hash_note(uint64_t tables_hash, uint64_t noted) {
  return hash_of(noted, tables_hash);
}

// The hash of the header and the tables. REQUIRES: `bytes` has tables_size() bytes.
inline uint64_t hash_tables(const PackedHeader& header, const uint8_t* bytes) {
  constexpr size_t kBegin = offsetof(PackedHeader, file_size);
  constexpr size_t kNote = offsetof(PackedHeader, stamp_hash);
  const uint64_t size = tables_size(header.section_count, header.entry_count);
  const uint64_t head = content_hash({bytes + kBegin, kNote - kBegin});
  return content_hash(
      {bytes + sizeof(PackedHeader), static_cast<size_t>(size - sizeof(PackedHeader))}, head);
}

}  // namespace taper::xnnpack
