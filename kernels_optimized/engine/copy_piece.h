// Copies pieces of rows, most of which are so short that a call of memcpy takes longer than the
// copy.

#pragma once

#include <cstddef>
#include <cstdint>
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

template <size_t kBytes>
void copy_pieces_of(const char* from, char* to, size_t step, int64_t count) {
  for (int64_t i = 0; i < count; ++i, from += kBytes, to += step) std::memcpy(to, from, kBytes);
}

// Copies `count` pieces of `width` bytes, which lie one after another, to places that are `step`
// bytes apart.
inline void copy_pieces(const void* source, size_t width, void* target, size_t step,
                        int64_t count) {
  char* to = static_cast<char*>(target);
  const char* from = static_cast<const char*>(source);
  if (width == 1) return copy_pieces_of<1>(from, to, step, count);
  if (width == 2) return copy_pieces_of<2>(from, to, step, count);
  if (width == 4) return copy_pieces_of<4>(from, to, step, count);
  if (width == 8) return copy_pieces_of<8>(from, to, step, count);
  for (int64_t i = 0; i < count; ++i, from += width, to += step) copy_piece(to, from, width);
}

// Rows of two numbers, one of `a` and one of `b`, as complex numbers are: in vectors. False if
// `width` is not that of a number of 4 or 8 bytes.
bool join_halves(const void* a, const void* b, size_t width, void* to, int64_t count);

}  // namespace taper::optimized
