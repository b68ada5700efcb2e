// One query of an attention in one pass over the keys: the softmax is kept as a running maximum and
// a running sum, and the weighted values are scaled down whenever the maximum grows.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace taper::portable {

template <typename T>
struct RunningAttention {
  static constexpr int64_t kKeys = 32;  // A good number of keys for take().

  T* sums;  // The weighted values so far, zeros at first.
  int64_t length;
  T maximum = -INFINITY;
  T total = T{0};

  // Accumulates `count` keys with these scores; values(i) is the row of value i. Keys with a score
  // of -inf count for nothing until there is another one; NaN makes everything NaN.
  template <typename Values>
  void take(const T* scores, int64_t count, Values values) {
    T largest = maximum;
    for (int64_t i = 0; i < count && !std::isnan(largest); ++i) {
      if (!(scores[i] <= largest)) largest = scores[i];
    }
    if (largest == -INFINITY) return;
    const T shrink = std::exp(maximum - largest);
    total *= shrink;
    for (int64_t d = 0; d < length; ++d) sums[d] *= shrink;
    maximum = largest;
    for (int64_t i = 0; i < count; ++i) {
      const T weight = std::exp(scores[i] - largest);
      const T* row = values(i);
      total += weight;
      for (int64_t d = 0; d < length; ++d) sums[d] += weight * row[d];
    }
  }

  // Divides by the sum of the weights; a query that sees no key has zeros.
  void finish() {
    if (total == T{0}) return;
    for (int64_t d = 0; d < length; ++d) sums[d] /= total;
  }
};

}  // namespace taper::portable
