// The triangular filter of bilinear resampling with antialiasing: it widens when the image shrinks,
// so that every input pixel contributes. As PyTorch rounds it.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels_portable/cores/resample.h"

namespace taper::portable {

// The inputs that contribute to one output along one axis, and their weights.
template <typename T>
struct SmoothFilter {
  int64_t first;
  int64_t count;
  T center;
  T inverse;  // The reciprocal of the factor by which the filter is widened.
  T total;    // The sum of the weights before they are normalised.

  SmoothFilter(const Axis& axis, bool align_corners, int64_t y) {
    const T scale = axis.scale<T>(align_corners);
    const T support = std::max(scale, T{1});
    inverse = T{1} / support;
    center = scale * (static_cast<T>(y) + T(0.5));
    const T low = std::clamp(center - support + T(0.5), T{0}, static_cast<T>(axis.in - 1));
    const T high = std::clamp(center + support + T(0.5), T{0}, static_cast<T>(axis.in));
    first = std::min(static_cast<int64_t>(low), axis.in - 1);
    count = std::clamp(static_cast<int64_t>(high) - first, int64_t{1}, axis.in - first);
    total = T{0};
    for (int64_t i = 0; i < count; ++i) total += raw(i);
    if (total == T{0}) total = T{1};
  }
  T weight(int64_t i) const { return raw(i) / total; }

 private:
  T raw(int64_t i) const {
    const T distance = (static_cast<T>(first + i) - center + T(0.5)) * inverse;
    return std::max(T{1} - std::abs(distance), T{0});
  }
};

}  // namespace taper::portable
