// Writes a file under another name and renames it, with Windows' calls.

#include "runtime/platform/windows_calls.h"
#include "taper/replace_file.h"

#if defined(_WIN32)
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace taper {
namespace {

constexpr int kAttempts = 16;
constexpr size_t kLongestPath = 4000;

Status failed(DWORD error) {
  switch (error) {
    case ERROR_ACCESS_DENIED:
    case ERROR_WRITE_PROTECT:
      return Status(Error::kAccessFailed, "its folder or the file is read-only");
    case ERROR_SHARING_VIOLATION:
    case ERROR_USER_MAPPED_FILE:
      return Status(Error::kAccessFailed, "another program uses the file");
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return Status(Error::kAccessFailed, "the disk is full");
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_DIRECTORY:
      return Status(Error::kAccessFailed, "there is no such folder");
    default:
      return Status(Error::kAccessFailed, "the system refuses to write it");
  }
}

// Returns 0 or the error.
DWORD write_part(HANDLE file, const FilePart& part) {
  constexpr size_t kBlock = size_t{64} << 20;
  for (size_t done = 0; done < part.bytes.size();) {
    const uint64_t offset = part.offset + done;
    OVERLAPPED place = {};
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    const auto count = static_cast<DWORD>(std::min(part.bytes.size() - done, kBlock));
    DWORD written = 0;
    if (!WriteFile(file, part.bytes.data() + done, count, &written, &place)) return GetLastError();
    if (written == 0) return ERROR_HANDLE_DISK_FULL;
    done += written;
  }
  return 0;
}

DWORD write_all(HANDLE file, uint64_t size, Span<const FilePart> parts) {
  LARGE_INTEGER end;
  end.QuadPart = static_cast<LONGLONG>(size);
  if (!SetFilePointerEx(file, end, nullptr, FILE_BEGIN) || !SetEndOfFile(file)) {
    return GetLastError();
  }
  for (const FilePart& part : parts) {
    if (const DWORD error = write_part(file, part)) return error;
  }
  return 0;
}

// Creates a file that did not exist before. Other processes may do the same at the same time.
HANDLE make_temporary(char* name, size_t length, const char* path) {
  for (int i = 0; i < kAttempts; ++i) {
    std::snprintf(name, length, "%s.tmp%lu_%d", path, GetCurrentProcessId(), i);
    const HANDLE file = CreateFileW(internal::WidePath(name).get(), GENERIC_WRITE, 0, nullptr,
                                    CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file != INVALID_HANDLE_VALUE || GetLastError() != ERROR_FILE_EXISTS) return file;
  }
  return INVALID_HANDLE_VALUE;
}

bool is_read_only(const wchar_t* path) {
  const DWORD attributes = GetFileAttributesW(path);
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_READONLY) != 0 &&
         (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
}

}  // namespace

Status replace_file(const char* path, uint64_t size, Span<const FilePart> parts) {
  char name[kLongestPath + 48];
  if (std::strlen(path) > kLongestPath) return failed(ERROR_FILENAME_EXCED_RANGE);
  const internal::WidePath target(path);
  if (is_read_only(target.get())) return failed(ERROR_ACCESS_DENIED);
  internal::OwnHandle file(make_temporary(name, sizeof(name), path));
  if (!file.is_open()) return failed(GetLastError());
  const internal::WidePath temporary(name);
  DWORD error = write_all(file.get(), size, parts);
  if (!file.close() && error == 0) error = GetLastError();
  if (error == 0 && !MoveFileExW(temporary.get(), target.get(), MOVEFILE_REPLACE_EXISTING)) {
    error = GetLastError();
  }
  if (error == 0) return {};
  DeleteFileW(temporary.get());
  return failed(error);
}

}  // namespace taper
#endif
