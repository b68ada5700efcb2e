// Opens packed weights and checks their tables; see packed_file.h.

#include "backends/xnnpack/runtime/packed/packed_file.h"

#include <cstring>

#include "backends/xnnpack/runtime/packed/packed_header.h"
#include "taper/content_hash.h"

namespace taper::xnnpack {
namespace {

Status no_use(const char* text) { return Status(Error::kDelegateInvalidCompatibility, text); }

constexpr char kDamaged[] = "it is damaged or cut short";

}  // namespace

Result<PackedFile> PackedFile::open(Span<const uint8_t> bytes, uint64_t kernels, uint64_t stamp) {
  PackedHeader header;
  if (bytes.size() < sizeof(header)) return no_use(kDamaged);
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kPackedAlignment != 0) {
    return no_use("it is not aligned to 64 bytes");
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kPackedMagic, sizeof(header.magic)) != 0) {
    return no_use("it does not contain packed weights of this version");
  }
  const uint64_t tables = tables_size(header.section_count, header.entry_count);
  if (header.file_size != bytes.size() || tables > bytes.size()) return no_use(kDamaged);
  if (header.tables_hash != hash_tables(header, bytes.data())) return no_use(kDamaged);
  if (header.kernels != kernels) {
    return no_use("it was made for another processor or another XNNPACK");
  }
  PackedFile file;
  file.bytes_ = bytes;
  const uint8_t* at = bytes.data() + sizeof(header);
  file.sections_ = {reinterpret_cast<const PackedSection*>(at), header.section_count};
  at += header.section_count * sizeof(PackedSection);
  file.entries_ = {reinterpret_cast<const PackedEntry*>(at), header.entry_count};
  if (!file.tables_hold()) return no_use(kDamaged);
  if (header.note_hash == hash_note(header.tables_hash, header.program_version)) {
    file.program_version_ = header.program_version;
  }
  file.stamp_ = stamp;
  file.is_right_ = stamp != 0 && header.stamp_hash == hash_note(header.tables_hash, stamp);
  return file;
}

bool PackedFile::tables_hold() const {
  for (const PackedSection& section : sections_) {
    if (section.first_entry > entries_.size() ||
        section.entry_count > entries_.size() - section.first_entry) {
      return false;
    }
  }
  for (const PackedEntry& entry : entries_) {
    if (entry.offset % kPackedAlignment != 0 || entry.offset > bytes_.size() ||
        entry.size > bytes_.size() - entry.offset) {
      return false;
    }
  }
  return true;
}

Span<const PackedEntry> PackedFile::find(uint64_t graph, uint64_t method) const {
  const PackedSection* found = nullptr;
  for (const PackedSection& section : sections_) {
    if (section.graph != graph) continue;
    if (found == nullptr || (section.method == method && found->method != method)) {
      found = &section;
    }
  }
  return found != nullptr ? entries(*found) : Span<const PackedEntry>();
}

}  // namespace taper::xnnpack
