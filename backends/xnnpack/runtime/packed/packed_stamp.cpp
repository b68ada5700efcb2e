// Notes in a file of packed weights that its bytes are right, which hold for as long as nobody writes
// it. On Windows there are none: each process hashes what it uses.

#include "backends/xnnpack/runtime/packed/packed_file.h"
#include "backends/xnnpack/runtime/packed/packed_header.h"

#if defined(_WIN32)

namespace taper::xnnpack {

uint64_t stamp_of(const char*) { return 0; }

void note_right(const char*, const PackedFile&, uint64_t) {}

}  // namespace taper::xnnpack

#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

namespace taper::xnnpack {
namespace {

// Another change within this time might get the same timestamp from the file system.
constexpr int64_t kTooYoungSeconds = 3;

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
#endif
