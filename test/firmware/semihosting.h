// Semihosting, as defined by ARM and adopted by RISC-V: reading files of the host, printing text,
// and exiting.

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __wasi__  // WASI provides all of it.

#include <stdio.h>
#include <stdlib.h>

inline void say(const char* text) { fputs(text, stdout); }

inline size_t read_host_file(const char* path, void* to, size_t size) {
  FILE* file = fopen(path, "rb");
  if (file == nullptr) return 0;
  const size_t read = fread(to, 1, size, file);
  fclose(file);
  return read;
}

#else

inline uint32_t semihost(uint32_t call, const void* arguments) {
#ifdef __riscv
  register uint32_t a0 __asm("a0") = call;
  register const void* a1 __asm("a1") = arguments;
  __asm volatile(
      ".balign 16\n"  // The three instructions mark the call; they must not cross a page.
      ".option push\n"
      ".option norvc\n"
      "slli x0, x0, 0x1f\n"
      "ebreak\n"
      "srai x0, x0, 7\n"
      ".option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
#else
  register uint32_t r0 __asm("r0") = call;
  register const void* r1 __asm("r1") = arguments;
  __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
#endif
}

inline void say(const char* text) { semihost(0x04, text); }

[[noreturn]] inline void leave(int code) {
  const uint32_t block[] = {0x20026, static_cast<uint32_t>(code)};
  semihost(0x20, block);
  for (;;) {
  }
}

// Reads up to `size` bytes of a file; returns the number of bytes read, or 0.
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

#endif
