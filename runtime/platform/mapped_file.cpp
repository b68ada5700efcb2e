// Mapping a file: POSIX, and an honest refusal elsewhere.

#include "runtime/platform/mapped_file.h"

#if defined(__unix__) || defined(__APPLE__)
#define TAPER_POSIX 1
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#else
#define TAPER_POSIX 0
#endif

namespace taper::internal {

#if TAPER_POSIX

namespace {

Result<Span<const uint8_t>> map_descriptor(int descriptor) {
  struct stat info;
  TAPER_REQUIRE(fstat(descriptor, &info) == 0, Error::kAccessFailed, "the file cannot be read");
  TAPER_REQUIRE(S_ISREG(info.st_mode), Error::kAccessFailed, "this is no regular file");
  if (info.st_size == 0) return Span<const uint8_t>();
  const size_t size = static_cast<size_t>(info.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  TAPER_REQUIRE(memory != MAP_FAILED, Error::kAccessFailed, "the file cannot be mapped");
  return Span<const uint8_t>(static_cast<const uint8_t*>(memory), size);
}

}  // namespace

Result<Span<const uint8_t>> map_file(const char* path) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  TAPER_REQUIRE(descriptor >= 0 || errno != ENOENT, Error::kNotFound, "there is no such file");
  TAPER_REQUIRE(descriptor >= 0, Error::kAccessFailed, "the file cannot be opened");
  Result<Span<const uint8_t>> bytes = map_descriptor(descriptor);
  close(descriptor);
  return bytes;
}

void unmap_file(Span<const uint8_t> bytes) {
  if (!bytes.empty()) munmap(const_cast<uint8_t*>(bytes.data()), bytes.size());
}

bool is_directory(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

#else

Result<Span<const uint8_t>> map_file(const char*) {
  return Status(Error::kNotSupported, "files cannot be mapped on this system");
}

void unmap_file(Span<const uint8_t>) {}

bool is_directory(const char*) { return false; }

#endif

}  // namespace taper::internal
