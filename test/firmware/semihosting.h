// ARM's semihosting calls: files of the host for the test's data, text, and the end.

#pragma once

#include <stddef.h>
#include <stdint.h>

inline uint32_t semihost(uint32_t call, const void* arguments) {
  register uint32_t r0 __asm("r0") = call;
  register const void* r1 __asm("r1") = arguments;
  __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

inline void say(const char* text) { semihost(0x04, text); }

[[noreturn]] inline void leave(int code) {
  const uint32_t block[] = {0x20026, static_cast<uint32_t>(code)};
  semihost(0x20, block);
  for (;;) {
  }
}

// Reads up to `size` bytes of a file; returns how many, or 0.
inline size_t read_host_file(const char* path, void* to, size_t size) {
  uint32_t length = 0;
  while (path[length] != '\0') ++length;
  const uint32_t open[] = {reinterpret_cast<uint32_t>(path), 1, length};
  const uint32_t file = semihost(0x01, open);
  if (file == UINT32_MAX) return 0;
  const uint32_t read[] = {file, reinterpret_cast<uint32_t>(to), static_cast<uint32_t>(size)};
  const uint32_t left = semihost(0x06, read);
  semihost(0x02, &file);
  return size - left;
}
