// Rounds weights to integers.

#pragma once

#include "exir/quantize/plan.h"

namespace taper::exir {

constexpr int kHalfBits = 16;  // The elements of float16, which have no scales.

// How many bits, and how many elements of a row share a scale; 0: each output channel has one.
struct WeightFormat {
  int bits = 8;
  int64_t group = 0;
};

constexpr float kLargestHalf = 65504;  // The largest element that float16 holds.

// `elements` in row-major order, not above kLargestHalf for kHalfBits. Symmetric: the largest
// element of a channel or group is the largest integer; at 4 bits the scale is the one with the
// smallest squared error.
QuantisedWeight round_weight(const std::vector<float>& elements, const std::vector<int64_t>& sizes,
                             size_t axis, const WeightFormat& format);

// The float weight that the integers stand for.
std::vector<float> restored(const QuantisedWeight& weight, const std::vector<int64_t>& sizes);

// The channel or group of each element: calls visit(index, scale's index).
template <typename Visit>
void for_each_scaled(const std::vector<int64_t>& sizes, size_t axis, int64_t group,
                     const Visit& visit) {
  int64_t count = 1, inner = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    count *= sizes[d];
    if (d > axis) inner *= sizes[d];
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t scale = group != 0 ? i / group : i / inner % sizes[axis];
    visit(static_cast<size_t>(i), static_cast<size_t>(scale));
  }
}

}  // namespace taper::exir
