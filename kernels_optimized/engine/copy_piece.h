// Copies pieces of rows, most of which are so short that a call of memcpy takes longer than the
// copy.

#pragma once

#include <cstddef>
#include <cstring>

namespace taper::optimized {

// kBytes <= count <= 2 * kBytes: the two copies may overlap.
template <size_t kBytes>
void copy_ends(char* to, const char* from, size_t count) {
  char first[kBytes], last[kBytes];
  std::memcpy(first, from, kBytes);
  std::memcpy(last, from + count - kBytes, kBytes);
  std::memcpy(to, first, kBytes);
  std::memcpy(to + count - kBytes, last, kBytes);
}

// Copies `count` bytes, which may not overlap.
inline void copy_piece(void* target, const void* source, size_t count) {
  char* to = static_cast<char*>(target);
  const char* from = static_cast<const char*>(source);
  constexpr size_t kStep = 16, kLong = 512;  // Longer pieces are copied by memcpy.
  if (count > kLong) {
    std::memcpy(to, from, count);
  } else if (count >= kStep) {
    for (size_t i = 0; i + kStep < count; i += kStep) std::memcpy(to + i, from + i, kStep);
    // The last step may overlap the one before it.
    std::memcpy(to + count - kStep, from + count - kStep, kStep);
  } else if (count >= 8) {
    copy_ends<8>(to, from, count);
  } else if (count >= 4) {
    copy_ends<4>(to, from, count);
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = from[i];
  }
}

}  // namespace taper::optimized
