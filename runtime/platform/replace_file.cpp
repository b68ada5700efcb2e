// Writes a file under another name and renames it, with POSIX; replace_file_windows.cpp is for
// Windows.

#include "taper/replace_file.h"

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace taper {
namespace {

constexpr int kAttempts = 16;
constexpr size_t kLongestPath = 4096;

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

// Returns 0 or the errno.
int write_part(int file, const FilePart& part) {
  const uint8_t* at = part.bytes.data();
  size_t size = part.bytes.size();
  uint64_t offset = part.offset;
  while (size > 0) {
    const ssize_t n = pwrite(file, at, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    at += n;
    size -= static_cast<size_t>(n);
    offset += static_cast<uint64_t>(n);
  }
  return 0;
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

// Asks once: another process may remove the file at any time.
bool may_replace(const char* path) {
  return access(path, W_OK) == 0 || errno == ENOENT || errno == ENOTDIR;
}

}  // namespace

Status replace_file(const char* path, uint64_t size, Span<const FilePart> parts) {
  if (!may_replace(path)) return failed(EACCES);
  char name[kLongestPath + 48];
  if (std::strlen(path) > kLongestPath) return failed(ENAMETOOLONG);
  const int file = make_temporary(name, sizeof(name), path);
  if (file < 0) return failed(errno);
  int error = ftruncate(file, static_cast<off_t>(size)) == 0 ? 0 : errno;
  for (const FilePart& part : parts) {
    if (error == 0) error = write_part(file, part);
  }
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(name, path) != 0) error = errno;
  if (error == 0) return {};
  unlink(name);
  return failed(error);
}

}  // namespace taper

#elif !defined(_WIN32)

namespace taper {

Status replace_file(const char*, uint64_t, Span<const FilePart>) {
  return Status(Error::kNotSupported, "files cannot be replaced on this system");
}

}  // namespace taper

#endif
