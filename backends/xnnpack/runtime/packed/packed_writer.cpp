// Writes packed weights. A power failure after the renaming may truncate the file, which its reader
// detects.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>

#include "backends/xnnpack/runtime/packed/packed_file.h"
#include "backends/xnnpack/runtime/packed/packed_header.h"

namespace taper::xnnpack {
namespace {

constexpr int kAttempts = 16;
// Another change within this time might get the same timestamp from the file system.
constexpr int64_t kTooYoungSeconds = 3;

Status failed(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return Status(Error::kAccessFailed, "its folder or the file is read-only");
    case ENOSPC:
    case EDQUOT:
      return Status(Error::kAccessFailed, "the disk is full");
    case ENOENT:
    case ENOTDIR:
      return Status(Error::kAccessFailed, "there is no such folder");
    default:
      return Status(Error::kAccessFailed, "the system refuses to write it");
  }
}

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

// Returns 0 or the errno.
int write_at(int file, const void* bytes, uint64_t size, uint64_t offset) {
  const auto* at = static_cast<const uint8_t*>(bytes);
  while (size > 0) {
    const ssize_t n = pwrite(file, at, static_cast<size_t>(size), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    at += n;
    size -= static_cast<uint64_t>(n);
    offset += static_cast<uint64_t>(n);
  }
  return 0;
}

int write_content(int file, const PackedContent& content, uint64_t end) {
  const auto size =
      static_cast<size_t>(tables_size(content.sections.size(), content.entries.size()));
  const std::unique_ptr<uint8_t[]> tables(new (std::nothrow) uint8_t[size]());
  if (tables == nullptr) return ENOMEM;
  PackedHeader header = {};
  std::memcpy(header.magic, kPackedMagic, sizeof(header.magic));
  header.file_size = end;
  header.kernels = content.kernels;
  header.section_count = static_cast<uint32_t>(content.sections.size());
  header.entry_count = static_cast<uint32_t>(content.entries.size());
  uint8_t* at = tables.get();
  std::memcpy(at, &header, sizeof(header));
  at += sizeof(header);
  std::memcpy(at, content.sections.data(), content.sections.size() * sizeof(PackedSection));
  at += content.sections.size() * sizeof(PackedSection);
  std::memcpy(at, content.entries.data(), content.entries.size() * sizeof(PackedEntry));
  header.tables_hash = hash_tables(header, tables.get());
  header.program_version = content.program_version;
  header.note_hash = hash_note(header.tables_hash, header.program_version);
  std::memcpy(tables.get(), &header, sizeof(header));
  int error = ftruncate(file, static_cast<off_t>(end)) == 0 ? 0 : errno;
  if (error == 0) error = write_at(file, tables.get(), size, 0);
  for (size_t i = 0; i < content.entries.size() && error == 0; ++i) {
    const PackedEntry& entry = content.entries[i];
    error = write_at(file, content.bytes[i], entry.size, entry.offset);
  }
  return error;
}

// Creates a file that did not exist before. Other processes may do the same at the same time.
int make_temporary(char* name, size_t length, const char* path) {
  for (int i = 0; i < kAttempts; ++i) {
    std::snprintf(name, length, "%s.tmp%ld_%d", path, static_cast<long>(getpid()), i);
    const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// A file that its owner has made read-only is not replaced.
bool may_replace(const char* path) { return access(path, F_OK) != 0 || access(path, W_OK) == 0; }

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
  if (!may_replace(path)) return failed(EACCES);
  const size_t length = std::strlen(path) + 48;
  const std::unique_ptr<char[]> name(new (std::nothrow) char[length]);
  if (name == nullptr) return failed(ENOMEM);
  const uint64_t end = lay_out(content);
  const int file = make_temporary(name.get(), length, path);
  if (file < 0) return failed(errno);
  int error = write_content(file, content, end);
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(name.get(), path) != 0) error = errno;
  if (error == 0) return {};
  unlink(name.get());
  return failed(error);
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
    (void)write_at(target, &header.stamp_hash, sizeof(header) - kNotes, kNotes);
    // Restores the time, since other processes need not notice this change.
    const timespec times[] = {{0, UTIME_OMIT}, modified(info)};
    (void)futimens(target, times);
  }
  close(target);
}

}  // namespace taper::xnnpack
