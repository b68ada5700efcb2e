// Arithmetic on sizes that cannot overflow.

#include "runtime/core/shape.h"

#include <limits>

namespace taper::internal {

int64_t count_elements(Span<const int32_t> sizes) {
  constexpr uint32_t kMaxHigh = UINT32_MAX >> 4;  // The high half of 2^60 - 1.
  uint64_t count = 1;
  bool empty = false;
  for (int32_t size : sizes) {
    if (size < 0) return -1;
    empty = empty || size == 0;
  }
  if (empty) return 0;
  for (int32_t size :
       sizes) {  // Multiplies in halves: neither product can overflow, and no division is needed.
    const uint64_t low = (count & UINT32_MAX) * static_cast<uint32_t>(size);
    const uint64_t high = (count >> 32) * static_cast<uint32_t>(size) + (low >> 32);
    if (high > kMaxHigh) return -1;
    count = high << 32 | (low & UINT32_MAX);
  }
  return static_cast<int64_t>(count);
}

bool strides_fit(Span<const int32_t> sizes, const uint8_t* dim_order) {
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    const int32_t size = sizes[dim_order[i]];
    if (size > 1 && stride > std::numeric_limits<int32_t>::max()) return false;
    stride *= size;
  }
  return true;
}

bool is_permutation(Span<const uint8_t> dim_order) {
  uint32_t seen = 0;
  for (uint8_t d : dim_order) {
    if (d >= dim_order.size() || (seen >> d & 1) != 0) return false;
    seen |= uint32_t{1} << d;
  }
  return true;
}

}  // namespace taper::internal
