// Converts paths, errors and facts of files between Windows and the runtime.

#include "runtime/platform/windows_calls.h"

#if defined(_WIN32)
#include <cerrno>
#include <cstring>
#include <cwchar>

namespace taper::internal {
namespace {

constexpr wchar_t kLifted[] = L"\\\\?\\";
constexpr size_t kLiftedLength = 4;

uint64_t joined(DWORD high, DWORD low) { return uint64_t{high} << 32 | low; }

}  // namespace

WidePath::WidePath(const char* path) : text_{} {
  const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, text_, kMost);
  if (length <= 0) {
    text_[0] = L'\0';
  } else if (length >= MAX_PATH - 12) {  // Folders must leave room for a name of 12 characters.
    lift_limit();
  }
}

void WidePath::lift_limit() {
  if (std::wcsncmp(text_, L"\\\\", 2) == 0) return;  // A server's, or lifted already.
  wchar_t whole[kMost];
  const DWORD length = GetFullPathNameW(text_, kMost - kLiftedLength, whole, nullptr);
  if (length == 0 || length >= kMost - kLiftedLength) {
    text_[0] = L'\0';
    return;
  }
  std::memcpy(text_, kLifted, kLiftedLength * sizeof(wchar_t));
  std::memcpy(text_ + kLiftedLength, whole, (length + 1) * sizeof(wchar_t));
}

HANDLE open_shared(const WidePath& path) {
  return CreateFileW(path.get(), GENERIC_READ,
                     FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                     FILE_ATTRIBUTE_NORMAL, nullptr);
}

int as_errno(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_PATHNAME:
      return ENOENT;
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_USER_MAPPED_FILE:
      return EBUSY;
    case ERROR_ACCESS_DENIED:
      return EACCES;
    case ERROR_WRITE_PROTECT:
      return EROFS;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
      return EEXIST;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return ENOSPC;
    case ERROR_FILENAME_EXCED_RANGE:
      return ENAMETOOLONG;
    case ERROR_DIRECTORY:
      return ENOTDIR;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_COMMITMENT_LIMIT:
      return ENOMEM;
    default:
      return EIO;
  }
}

bool file_facts(HANDLE file, FileFacts* facts) {
  BY_HANDLE_FILE_INFORMATION info;
  FILE_BASIC_INFO basic;
  if (!GetFileInformationByHandle(file, &info) ||
      !GetFileInformationByHandleEx(file, FileBasicInfo, &basic, sizeof(basic))) {
    return false;
  }
  facts->volume = info.dwVolumeSerialNumber;
  facts->number = joined(info.nFileIndexHigh, info.nFileIndexLow);
  facts->size = joined(info.nFileSizeHigh, info.nFileSizeLow);
  facts->changed = static_cast<uint64_t>(basic.ChangeTime.QuadPart);
  facts->modified = static_cast<uint64_t>(basic.LastWriteTime.QuadPart);
  return true;
}

uint64_t file_time_now() {
  FILETIME now;
  GetSystemTimeAsFileTime(&now);
  return joined(now.dwHighDateTime, now.dwLowDateTime);
}

}  // namespace taper::internal
#endif
