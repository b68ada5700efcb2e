// Replaces the functions with which glibc's users open, read, write, map and rename files, make
// folders and ask about both. Those of the program and of the C++ library come here; those of glibc
// itself (fread's own reads) do not.

#include "test/faults/failing_files.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace taper::test {
namespace {

char watched[PATH_MAX];  // The folder, with a slash behind it; empty: none.
FileFault chosen = FileFault::kRefused;
uint64_t seen = 0, failing = 0;

bool is_watched(const char* path) {
  const std::string_view folder = watched;
  return !folder.empty() && std::string_view(path).substr(0, folder.size()) == folder;
}

bool is_watched(int file) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t size = ::readlink(link, path, sizeof(path) - 1);
  if (size < 0) return false;
  path[size] = '\0';
  return is_watched(path);
}

// Whether this call is the one that `fault` befalls.
template <typename File>
bool befalls(FileFault fault, File file) {
  return fault == chosen && is_watched(file) && ++seen == failing;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

template <typename File, typename Result>
bool is_refused(File file, int error, Result* result, Result failure) {
  if (!befalls(FileFault::kRefused, file)) return false;
  errno = error;
  *result = failure;
  return true;
}

// Of calls that move `size` bytes: true if the result is decided without the system. `size` becomes
// what the system is asked for.
bool is_cut_short(int file, int error, size_t* size, ssize_t* result) {
  if (is_refused(file, error, result, ssize_t{-1})) return true;
  if (befalls(FileFault::kInterrupted, file)) {
    errno = EINTR;
    *result = -1;
    return true;
  }
  if (befalls(FileFault::kPartial, file) && *size > 1) *size = 1;
  return false;
}

bool is_read_short(int file, size_t* size, ssize_t* result) {
  if (is_cut_short(file, EIO, size, result)) return true;
  if (!befalls(FileFault::kEnds, file)) return false;
  *result = 0;
  return true;
}

}  // namespace

void fail_file_call(const std::string& folder, FileFault fault, uint64_t n) {
  std::snprintf(watched, sizeof(watched), "%s/", folder.c_str());
  chosen = fault;
  seen = 0;
  failing = n;
}

uint64_t file_calls() { return seen; }

}  // namespace taper::test

using taper::test::is_cut_short;
using taper::test::is_read_short;
using taper::test::is_refused;
using taper::test::next;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  int result = -1;
  if (is_refused(path, (flags & O_ACCMODE) == O_RDONLY ? EIO : ENOSPC, &result, -1)) return result;
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  return real(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  FILE* result = nullptr;
  if (is_refused(path, EIO, &result, static_cast<FILE*>(nullptr))) return result;
  static const auto real = next<FILE* (*)(const char*, const char*)>("fopen");
  return real(path, mode);
}

ssize_t read(int file, void* bytes, size_t size) {
  ssize_t result = 0;
  if (is_read_short(file, &size, &result)) return result;
  static const auto real = next<ssize_t (*)(int, void*, size_t)>("read");
  return real(file, bytes, size);
}

ssize_t write(int file, const void* bytes, size_t size) {
  ssize_t result = 0;
  if (is_cut_short(file, ENOSPC, &size, &result)) return result;
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return real(file, bytes, size);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  ssize_t result = 0;
  if (is_cut_short(file, ENOSPC, &size, &result)) return result;
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return real(file, bytes, size, offset);
}

size_t fread(void* bytes, size_t size, size_t count, FILE* stream) {
  ssize_t result = 0;
  size_t wanted = 2;  // Two bytes stand for all; a stream asks the system again by itself.
  if (is_read_short(fileno(stream), &wanted, &result)) return 0;
  static const auto real = next<size_t (*)(void*, size_t, size_t, FILE*)>("fread");
  return real(bytes, size, count, stream);
}

int ftruncate(int file, off_t size) noexcept {
  int result = -1;
  if (is_refused(file, ENOSPC, &result, -1)) return result;
  static const auto real = next<int (*)(int, off_t)>("ftruncate");
  return real(file, size);
}

// The file is closed all the same, as on Linux.
int close(int file) {
  int result = -1;
  const bool refused = is_refused(file, ENOSPC, &result, -1);
  static const auto real = next<int (*)(int)>("close");
  const int closed = real(file);
  if (refused) errno = ENOSPC;
  return refused ? -1 : closed;
}

int rename(const char* from, const char* to) noexcept {
  int result = -1;
  if (is_refused(from, ENOSPC, &result, -1)) return result;
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  return real(from, to);
}

int mkdir(const char* path, mode_t mode) noexcept {
  int result = -1;
  if (is_refused(path, ENOSPC, &result, -1)) return result;
  static const auto real = next<int (*)(const char*, mode_t)>("mkdir");
  return real(path, mode);
}

int stat(const char* path, struct stat* info) noexcept {
  int result = -1;
  if (is_refused(path, EIO, &result, -1)) return result;
  static const auto real = next<int (*)(const char*, struct stat*)>("stat");
  return real(path, info);
}

int lstat(const char* path, struct stat* info) noexcept {
  int result = -1;
  if (is_refused(path, EIO, &result, -1)) return result;
  static const auto real = next<int (*)(const char*, struct stat*)>("lstat");
  return real(path, info);
}

int fstat(int file, struct stat* info) noexcept {
  int result = -1;
  if (is_refused(file, EIO, &result, -1)) return result;
  static const auto real = next<int (*)(int, struct stat*)>("fstat");
  return real(file, info);
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  void* result = MAP_FAILED;
  if (file >= 0 && is_refused(file, ENOMEM, &result, MAP_FAILED)) return result;
  static const auto real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  return real(address, size, protection, flags, file, offset);
}

}  // extern "C"
