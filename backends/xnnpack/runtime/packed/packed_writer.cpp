// Lays out and writes packed weights.

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "backends/xnnpack/runtime/packed/packed_file.h"
#include "backends/xnnpack/runtime/packed/packed_header.h"
#include "taper/replace_file.h"

namespace taper::xnnpack {
namespace {

uint64_t round_up(uint64_t size) {
  return (size + kPackedAlignment - 1) / kPackedAlignment * kPackedAlignment;
}

// Sets the offset of every entry, the same one for equal bytes. Returns the end.
uint64_t lay_out(const PackedContent& content) {
  uint64_t end = round_up(tables_size(content.sections.size(), content.entries.size()));
  for (size_t i = 0; i < content.entries.size(); ++i) {
    PackedEntry& entry = content.entries[i];
    entry.offset = end;
    for (size_t j = 0; j < i && entry.offset == end; ++j) {
      const PackedEntry& other = content.entries[j];
      if (other.bytes_hash != entry.bytes_hash || other.size != entry.size) continue;
      if (std::memcmp(content.bytes[i], content.bytes[j], static_cast<size_t>(entry.size)) == 0) {
        entry.offset = other.offset;
      }
    }
    if (entry.offset == end) end += round_up(entry.size);
  }
  return end;
}

// `bytes` has tables_size() bytes.
void write_tables(const PackedContent& content, uint64_t end, uint8_t* bytes) {
  PackedHeader header = {};
  std::memcpy(header.magic, kPackedMagic, sizeof(header.magic));
  header.file_size = end;
  header.kernels = content.kernels;
  header.section_count = static_cast<uint32_t>(content.sections.size());
  header.entry_count = static_cast<uint32_t>(content.entries.size());
  uint8_t* at = bytes;
  std::memcpy(at, &header, sizeof(header));
  at += sizeof(header);
  std::memcpy(at, content.sections.data(), content.sections.size() * sizeof(PackedSection));
  at += content.sections.size() * sizeof(PackedSection);
  std::memcpy(at, content.entries.data(), content.entries.size() * sizeof(PackedEntry));
  header.tables_hash = hash_tables(header, bytes);
  header.program_version = content.program_version;
  header.note_hash = hash_note(header.tables_hash, header.program_version);
  std::memcpy(bytes, &header, sizeof(header));
}

}  // namespace

Status write_packed_file(const char* path, const PackedContent& content) {
  const uint64_t end = lay_out(content);
  const auto size =
      static_cast<size_t>(tables_size(content.sections.size(), content.entries.size()));
  const size_t count = content.entries.size();
  const std::unique_ptr<uint8_t[]> tables(new (std::nothrow) uint8_t[size]());
  const std::unique_ptr<FilePart[]> parts(new (std::nothrow) FilePart[count + 1]);
  TAPER_REQUIRE(tables != nullptr && parts != nullptr, Error::kMemoryAllocationFailed,
                "there is no memory for it");
  write_tables(content, end, tables.get());
  parts[0] = {0, {tables.get(), size}};
  for (size_t i = 0; i < count; ++i) {
    const PackedEntry& entry = content.entries[i];
    parts[i + 1] = {entry.offset, {content.bytes[i], static_cast<size_t>(entry.size)}};
  }
  return replace_file(path, end, {parts.get(), count + 1});
}

}  // namespace taper::xnnpack
