// What element-wise kernels share whose loops are plain ones over a fixed number of elements, which
// the compiler turns into the vectors of each instruction set, and over the elements that are left.
// They take memory alone, so a number beside a tensor fills a block of memory.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

// Leaves a loop over a block as it is after it was vectorised: code is kept small.
#if defined(__clang__)
#define TAPER_ROLLED_LOOP _Pragma("clang loop unroll(disable)")
#else
#define TAPER_ROLLED_LOOP _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif
// In a loop over a few elements: keeps the compiler from making vectors of these, too.
#define TAPER_FEW_ELEMENTS asm volatile("")

namespace taper::optimized {

// So many elements are computed at a time.
inline constexpr int64_t kPlainStep = 32;

// One operand of a run: its first element, and whether it moves on.
struct Line {
  const char* data;
  int64_t step;  // 0 or 1.

  Line from(int64_t i, int64_t element) const { return {data + i * step * element, step}; }
};

// A number, repeated.
struct Repeated {
  static constexpr int64_t kCount = 1024;
  alignas(64) char bytes[kCount * 8];

  template <typename T>
  void fill(const char* number, int64_t count) {
    T value;
    std::memcpy(&value, number, sizeof(T));
    std::fill_n(reinterpret_cast<T*>(bytes), count, value);
  }
  // Fills in at most kCount elements of 1, 2, 4 or 8 bytes.
  const char* fill(const char* number, int64_t element, int64_t count) {
    if (element == 1) fill<uint8_t>(number, count);
    if (element == 2) fill<uint16_t>(number, count);
    if (element == 4) fill<uint32_t>(number, count);
    if (element == 8) fill<uint64_t>(number, count);
    return bytes;
  }
};

}  // namespace taper::optimized
