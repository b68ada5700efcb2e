// Mapping files with POSIX; mapped_file_windows.cpp is for Windows. On other systems the functions
// return kNotSupported or do nothing.

#include "runtime/platform/mapped_file.h"

#if defined(__unix__) || defined(__APPLE__)
#define TAPER_POSIX 1
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#else
#define TAPER_POSIX 0
#endif

#include <cerrno>

namespace taper::internal {

bool contains(Span<const uint8_t> whole, Span<const uint8_t> bytes) {
  const uintptr_t start = reinterpret_cast<uintptr_t>(whole.data());
  const uintptr_t begin = reinterpret_cast<uintptr_t>(bytes.data());
  return begin >= start && begin - start <= whole.size() &&
         bytes.size() <= whole.size() - (begin - start);
}

uint64_t hash_of_facts(Span<const uint64_t> facts) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a over words.
  for (const uint64_t fact : facts) {
    hash = (hash ^ fact) * 0x100000001b3;
    hash ^= hash >> 32;
  }
  return hash != 0 ? hash : 1;
}

#if !defined(_WIN32)

std::FILE* open_to_read(const char* path) { return std::fopen(path, "rb"); }

int64_t size_of(std::FILE* file) {
  return std::fseek(file, 0, SEEK_END) == 0 ? int64_t{std::ftell(file)} : -1;
}

#endif

#if TAPER_POSIX

namespace {

// After a change this recent, another one could follow within the resolution of the file system's
// clock and get the same time.
constexpr int64_t kTooYoungSeconds = 3;

// A hash of which file it is and when it last changed: the system records every change in the
// inode.
uint64_t version_of(const struct stat& info) {
  timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
#if defined(__APPLE__)
  const timespec changed = info.st_ctimespec, modified = info.st_mtimespec;
#else
  const timespec changed = info.st_ctim, modified = info.st_mtim;
#endif
  if (changed.tv_sec > now.tv_sec - kTooYoungSeconds) return 0;
  const uint64_t facts[] = {
      static_cast<uint64_t>(info.st_dev),      static_cast<uint64_t>(info.st_ino),
      static_cast<uint64_t>(info.st_size),     static_cast<uint64_t>(changed.tv_sec),
      static_cast<uint64_t>(changed.tv_nsec),  static_cast<uint64_t>(modified.tv_sec),
      static_cast<uint64_t>(modified.tv_nsec),
  };
  return hash_of_facts(facts);
}

Result<Span<const uint8_t>> map_descriptor(int descriptor, uint64_t* version) {
  struct stat info;
  TAPER_REQUIRE(fstat(descriptor, &info) == 0, Error::kAccessFailed, "the file cannot be read");
  errno = S_ISDIR(info.st_mode) ? EISDIR : 0;
  TAPER_REQUIRE(S_ISREG(info.st_mode), Error::kAccessFailed, "this is not a regular file");
  if (version != nullptr) *version = version_of(info);
  if (info.st_size == 0) return Span<const uint8_t>();
  TAPER_REQUIRE(static_cast<uint64_t>(info.st_size) <= PTRDIFF_MAX, Error::kNotSupported,
                "the file is larger than the addresses of this processor");
  const size_t size = static_cast<size_t>(info.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  TAPER_REQUIRE(memory != MAP_FAILED, Error::kAccessFailed, "the file cannot be mapped");
  return Span<const uint8_t>(static_cast<const uint8_t*>(memory), size);
}

}  // namespace

Result<Span<const uint8_t>> map_file(const char* path, uint64_t* version) {
  const int descriptor =
      open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // Opening a pipe must not block.
  TAPER_REQUIRE(descriptor >= 0 || errno != ENOENT, Error::kNotFound, "there is no such file");
  TAPER_REQUIRE(descriptor >= 0, Error::kAccessFailed, "the file cannot be opened");
  Result<Span<const uint8_t>> bytes = map_descriptor(descriptor, version);
  close(descriptor);
  return bytes;
}

void unmap_file(Span<const uint8_t> bytes) {
  if (!bytes.empty()) munmap(const_cast<uint8_t*>(bytes.data()), bytes.size());
}

void release_mapped(Span<const uint8_t> whole, Span<const uint8_t> bytes) {
  if (bytes.empty() || !contains(whole, bytes)) return;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(bytes.data());
  const long page = sysconf(_SC_PAGESIZE);
  if (page <= 0) return;
  const uintptr_t skipped = begin % static_cast<uintptr_t>(page);
  madvise(const_cast<uint8_t*>(bytes.data() - skipped), bytes.size() + skipped, MADV_DONTNEED);
}

bool is_directory(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

#elif !defined(_WIN32)

Result<Span<const uint8_t>> map_file(const char*, uint64_t*) {
  return Status(Error::kNotSupported, "files cannot be mapped on this system");
}

void unmap_file(Span<const uint8_t>) {}

void release_mapped(Span<const uint8_t>, Span<const uint8_t>) {}

bool is_directory(const char*) { return false; }

#endif

}  // namespace taper::internal
