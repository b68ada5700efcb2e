// One query of an attention in one pass over the keys: the softmax is kept as a running maximum and
// a running sum, and the weighted values are scaled down whenever the maximum grows.

#pragma once

#include <cmath>
#include <cstdint>

namespace taper::portable {

template <typename T>  // float or double
class RunningAttention {
 public:
  static constexpr int64_t kKeys = 32;  // A good number of keys to weigh at once.

  RunningAttention() = default;
  // `sums` has `length` zeros.
  RunningAttention(T* sums, int64_t length) : sums_(sums), length_(length) {}

  // Turns the scores of the next keys into their weights. False if they count for nothing: -inf
  // does until there is another score. NaN makes everything NaN.
  bool weigh(T* scores, int64_t count);
  // Adds the values of `count` keys of these weights, `stride` apart.
  void add(const T* weights, int64_t count, const T* values, int64_t stride);
  // Divides by the sum of the weights. False if there are none: then the sums are zeros.
  bool finish();

 private:
  void scale(T factor);

  T* sums_ = nullptr;
  int64_t length_ = 0;
  T maximum_ = -INFINITY;
  T total_ = T{0};
};

}  // namespace taper::portable
