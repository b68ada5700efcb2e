// The sizes of a tensor, outermost dimension first.

#pragma once

#include <cstddef>
#include <cstdint>

namespace taper::vulkan {

struct Dims {
  static constexpr size_t kMaxRank = 8;

  size_t rank = 0;
  int64_t size[kMaxRank] = {};

  int64_t& operator[](size_t i) { return size[i]; }
  int64_t operator[](size_t i) const { return size[i]; }

  // REQUIRES: rank < kMaxRank.
  void push_back(int64_t value) { size[rank++] = value; }

  // The product of the sizes from `first` up to, not including, `last`; INT64_MAX if it overflows.
  int64_t product(size_t first, size_t last) const {
    int64_t result = 1;
    for (size_t i = first; i < last; ++i) {
      if (__builtin_mul_overflow(result, size[i], &result)) return INT64_MAX;
    }
    return result;
  }
  int64_t numel() const { return product(0, rank); }

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.rank != b.rank) return false;
    for (size_t i = 0; i < a.rank; ++i) {
      if (a.size[i] != b.size[i]) return false;
    }
    return true;
  }
  friend bool operator!=(const Dims& a, const Dims& b) { return !(a == b); }
};

// In elements, of a contiguous tensor. Sizes that no tensor has give any numbers.
inline Dims contiguous_strides(const Dims& dims) {
  Dims strides = dims;
  uint64_t stride = 1;
  for (size_t i = dims.rank; i-- > 0;) {
    strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(dims[i]);
  }
  return strides;
}

}  // namespace taper::vulkan
