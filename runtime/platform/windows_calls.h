// What the calls of Windows take and say, in the terms of the rest of the runtime: paths in UTF-8,
// and errno. Empty on other systems.

#pragma once

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <cstddef>
#include <cstdint>

namespace taper::internal {

// A path in UTF-8 as wide calls take it. One that is longer than those usually take is made
// absolute and begins with \\?\, which lifts their limit.
class WidePath {
 public:
  explicit WidePath(const char* path);
  WidePath(const WidePath&) = delete;
  WidePath& operator=(const WidePath&) = delete;
  // An empty string, which no file has as its name, if the path is no UTF-8 or too long.
  const wchar_t* get() const { return text_; }

 private:
  void lift_limit();

  static constexpr size_t kMost = 4096;
  wchar_t text_[kMost];
};

// Closes a handle at the end of a scope.
class OwnHandle {
 public:
  explicit OwnHandle(HANDLE handle) : handle_(handle) {}
  OwnHandle(const OwnHandle&) = delete;
  OwnHandle& operator=(const OwnHandle&) = delete;
  ~OwnHandle() { close(); }
  bool is_open() const { return handle_ != INVALID_HANDLE_VALUE && handle_ != nullptr; }
  HANDLE get() const { return handle_; }
  // False if what was written did not arrive.
  bool close() {
    const bool closed = !is_open() || CloseHandle(handle_) != 0;
    handle_ = INVALID_HANDLE_VALUE;
    return closed;
  }

 private:
  HANDLE handle_;
};

// Opens a file that exists for reading, and lets others write, rename and remove it meanwhile.
HANDLE open_shared(const WidePath& path);

// What errno would be on other systems for an error of Windows, by default the last one.
int as_errno(DWORD error = GetLastError());

// Facts of an open file that change whenever it changes. False if they cannot be had. Times are in
// units of 100 ns.
struct FileFacts {
  uint64_t volume, number, size, changed, modified;
};
bool file_facts(HANDLE file, FileFacts* facts);

// Now, on the clock of those times.
uint64_t file_time_now();

}  // namespace taper::internal
#endif
