// Sums and maxima over a block of floats or doubles, in several lanes so that the compiler
// vectorises them, and the two passes over a row that normalisation takes.

#pragma once

#include <cstdint>
#include <cstring>

#include "kernels_portable/lanes.h"

namespace taper::portable {

// Folds values[0, count) with step(accumulator, value), for vectors and single values alike, from
// `start` on, which must not change what it is folded with.
template <typename C, typename Step>
inline C fold_block(C start, const C* values, int64_t count, Step step) {
  using Vector = typename Lanes<C>::Type;
  constexpr int64_t kCount = Lanes<C>::kCount;
  Vector folded[2] = {Vector{} + start, Vector{} + start};
  int64_t i = 0;
  for (; i + 2 * kCount <= count; i += 2 * kCount) {
    Vector block[2];
    std::memcpy(block, values + i, sizeof(block));
    folded[0] = step(folded[0], block[0]);
    folded[1] = step(folded[1], block[1]);
  }
  C lanes[2 * kCount];
  std::memcpy(lanes, folded, sizeof(lanes));
  C result = start;
  for (; i < count; ++i) result = step(result, values[i]);
  for (int64_t k = 1; k < 2 * kCount; ++k) lanes[0] = step.join(lanes[0], lanes[k]);
  return step.join(result, lanes[0]);
}

struct Largest {
  template <typename V>
  V operator()(V a, V b) const {
    return b > a ? b : a;
  }
  template <typename V>
  V join(V a, V b) const {
    return b > a ? b : a;
  }
};

struct Sum {
  template <typename V>
  V operator()(V a, V b) const {
    return a + b;
  }
  template <typename V>
  V join(V a, V b) const {
    return a + b;
  }
};

template <typename C>
struct SquaredDistance {
  template <typename V>
  V operator()(V a, V b) const {
    return a + (b - mean) * (b - mean);
  }
  C join(C a, C b) const { return a + b; }
  C mean;
};

// The largest of the values and of `start`; NaN may be passed over.
template <typename C>
C max_of_block(C start, const C* values, int64_t count) {
  return fold_block(start, values, count, Largest{});
}

template <typename C>
C sum_of_block(const C* values, int64_t count) {
  return fold_block(C{0}, values, count, Sum{});
}

// The sum of (value - mean)^2.
template <typename C>
C squares_of_block(const C* values, int64_t count, C mean) {
  return fold_block(C{0}, values, count, SquaredDistance<C>{mean});
}

}  // namespace taper::portable
