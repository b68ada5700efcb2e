// Sums and maxima over a block of floats or doubles, in several lanes so that the compiler
// vectorises them, and the two passes over a row that normalisation takes.

#pragma once

#include <cstdint>
#include <limits>

namespace taper::portable {

inline constexpr int64_t kLanes = 8;

// The largest of the values and of `start`; NaN may be passed over.
template <typename C>
C max_of_block(C start, const C* values, int64_t count) {
  C lanes[kLanes];
  for (C& lane : lanes) lane = start;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) {
      lanes[k] = values[i + k] > lanes[k] ? values[i + k] : lanes[k];
    }
  }
  for (; i < count; ++i) lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  C best = lanes[0];
  for (const C lane : lanes) best = lane > best ? lane : best;
  return best;
}

template <typename C>
C sum_of_block(const C* values, int64_t count) {
  C lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] += values[i + k];
  }
  C sum = 0;
  for (; i < count; ++i) sum += values[i];
  for (const C lane : lanes) sum += lane;
  return sum;
}

// The sum of (value - mean)^2.
template <typename C>
C squares_of_block(const C* values, int64_t count, C mean) {
  C lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) {
      lanes[k] += (values[i + k] - mean) * (values[i + k] - mean);
    }
  }
  C sum = 0;
  for (; i < count; ++i) sum += (values[i] - mean) * (values[i] - mean);
  for (const C lane : lanes) sum += lane;
  return sum;
}

}  // namespace taper::portable
