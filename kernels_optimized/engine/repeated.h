// Operands of element-wise loops that are a number, for loops that take memory alone.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace taper::optimized {

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
