// Lays out and writes packed weights.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>

#include "backends/xnnpack/runtime/packed/packed_file.h"
#include "backends/xnnpack/runtime/packed/packed_header.h"
#include "taper/replace_file.h"

namespace taper::xnnpack {
namespace {

// Another change within this time might get the same timestamp from the file system.
constexpr int64_t kTooYoungSeconds = 3;

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

timespec modified(const struct stat& info) {
#if defined(__APPLE__)
  return info.st_mtimespec;
#else
  return info.st_mtim;
#endif
}

uint64_t stamp_of(const struct stat& info) {
  timespec now;
  const timespec time = modified(info);
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
  if (time.tv_sec > now.tv_sec - kTooYoungSeconds) return 0;
  const uint64_t facts[] = {
      static_cast<uint64_t>(info.st_dev),  static_cast<uint64_t>(info.st_ino),
      static_cast<uint64_t>(info.st_size), static_cast<uint64_t>(time.tv_sec),
      static_cast<uint64_t>(time.tv_nsec),
  };
  const uint64_t stamp = hash_of(facts);
  return stamp != 0 ? stamp : 1;
}

}  // namespace

Status write_packed_file(const char* path, const PackedContent& content) {
  const uint64_t end = lay_out(content);
  const auto size =
      static_cast<size_t>(tables_size(content.sections.size(), content.entries.size()));
  const size_t count = content.entries.size();
  const std::unique_ptr<uint8_t[]> tables(new (std::nothrow) uint8_t[size]());
  const std::unique_ptr<FilePart[]> parts(new (std::nothrow) FilePart[count + 1]);
  TAPER_REQUIRE(tables != nullptr && parts != nullptr, Error::kAccessFailed,
                "there is no memory for it");
  write_tables(content, end, tables.get());
  parts[0] = {0, {tables.get(), size}};
  for (size_t i = 0; i < count; ++i) {
    const PackedEntry& entry = content.entries[i];
    parts[i + 1] = {entry.offset, {content.bytes[i], static_cast<size_t>(entry.size)}};
  }
  return replace_file(path, end, {parts.get(), count + 1});
}

uint64_t stamp_of(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 ? stamp_of(info) : 0;
}

void note_right(const char* path, const PackedFile& file, uint64_t program_version) {
  const int target = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (target < 0) return;
  PackedHeader header;
  std::memcpy(&header, file.bytes_.data(), sizeof(header));
  struct stat info;
  if (file.stamp_ != 0 && fstat(target, &info) == 0 && stamp_of(info) == file.stamp_) {
    header.stamp_hash = hash_note(header.tables_hash, file.stamp_);
    if (program_version != 0) {
      header.program_version = program_version;
      header.note_hash = hash_note(header.tables_hash, program_version);
    }
    constexpr size_t kNotes = offsetof(PackedHeader, stamp_hash);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&header);
    // Restores the time, since other processes need not notice this change.
    const timespec times[] = {{0, UTIME_OMIT}, modified(info)};
    if (pwrite(target, bytes + kNotes, sizeof(header) - kNotes, kNotes) > 0) {
      (void)futimens(target, times);
    }
  }
  close(target);
}

}  // namespace taper::xnnpack
