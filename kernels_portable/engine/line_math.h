// Sums and maxima over a block of floats or doubles, in explicit vectors, and the two sums that
// normalisation of a row needs.

#pragma once

#include <cstdint>
#include <cstring>

#include "kernels_portable/engine/lanes.h"

namespace taper::portable {

// Reduces values[0, count) to one value with step(accumulator, value), which must accept vectors
// and single values alike; join() combines two accumulators. `start` must be the identity of
// join().
template <typename C, typename Step, typename Join>
inline C fold_block(C start, const C* values, int64_t count, Step step, Join join) {
  using Vector = typename Lanes<C>::Type;
  constexpr int64_t kCount = Lanes<C>::kCount;
  Vector folded[4];
  for (Vector& each : folded) each = Vector{} + start;
  int64_t i = 0;
  for (; i + 4 * kCount <= count; i += 4 * kCount) {
    Vector block[4];
    std::memcpy(block, values + i, sizeof(block));
    for (int k = 0; k < 4; ++k) folded[k] = step(folded[k], block[k]);
  }
  C result = start;
  for (; i < count; ++i) result = step(result, values[i]);
  C lanes[kCount];
  folded[0] = join(join(folded[0], folded[1]), join(folded[2], folded[3]));
  std::memcpy(lanes, folded, sizeof(lanes));
  for (const C lane : lanes) result = join(result, lane);
  return result;
}

struct AddUp {
  template <typename V>
  V operator()(V a, V b) const {
    return a + b;
  }
};

// The largest of the values and of `start`. NaN may be ignored.
template <typename C>
C max_of_block(C start, const C* values, int64_t count) {
  const auto larger = [](auto a, auto b) { return b > a ? b : a; };
  return fold_block(start, values, count, larger, larger);
}

template <typename C>
C sum_of_block(const C* values, int64_t count) {
  return fold_block(C{0}, values, count, AddUp(), AddUp());
}

// The sum of (value - mean)^2.
template <typename C>
C squares_of_block(const C* values, int64_t count, C mean) {
  const auto square = [mean](auto sum, auto value) {
    return sum + (value - mean) * (value - mean);
  };
  return fold_block(C{0}, values, count, square, AddUp());
}

}  // namespace taper::portable
