// The p-norm of the difference of two vectors: what cdist and pdist compute.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels_portable/engine/compute.h"
#include "taper/kernel.h"

namespace taper::portable {

// Whether NaN propagates when p is infinity, that is, for the largest difference. Other norms
// always propagate it.
enum class LargestNaN { kSpreads, kIgnored };

// The distance between vectors of `length` elements of one floating dtype, accumulated in T.
template <typename T>
class Distance {
 public:
  Distance(double p, ScalarType type, int64_t length, LargestNaN nan)
      : p_(p),
        type_(type),
        length_(length),
        spreads_(nan == LargestNaN::kSpreads),
        load_(loader<T>(type)) {}

  T operator()(const void* a, int64_t a_stride, const void* b, int64_t b_stride) const {
    T total = T{0};
    T x[kPart], y[kPart];
    for (int64_t i = 0; i < length_; i += kPart) {
      const int64_t count = std::min(kPart, length_ - i);
      load_(element(a, i * a_stride, type_), a_stride, count, x);
      load_(element(b, i * b_stride, type_), b_stride, count, y);
      for (int64_t j = 0; j < count; ++j) x[j] = std::abs(x[j] - y[j]);
      total = p_ == INFINITY ? largest(x, count, total) : total + sum(x, count);
    }
    return finish(total);
  }

 private:
  static constexpr int64_t kPart = 64;

  T largest(const T* x, int64_t count, T start) const {
    for (int64_t j = 0; j < count; ++j) {
      start = x[j] > start || (spreads_ && x[j] != x[j]) ? x[j] : start;
    }
    return start;
  }
  T sum(const T* x, int64_t count) const {
    T total = T{0};
    if (p_ == 0) {
      for (int64_t j = 0; j < count; ++j) total += std::min(std::ceil(x[j]), T{1});
    } else if (p_ == 1) {
      for (int64_t j = 0; j < count; ++j) total += x[j];
    } else if (p_ == 2) {
      for (int64_t j = 0; j < count; ++j) total += x[j] * x[j];
    } else {
      for (int64_t j = 0; j < count; ++j) total += std::pow(x[j], static_cast<T>(p_));
    }
    return total;
  }
  T finish(T total) const {
    if (p_ == 2) return std::sqrt(total);
    if (p_ == 0 || p_ == 1 || p_ == INFINITY) return total;
    return std::pow(total, static_cast<T>(1.0 / p_));
  }

  double p_;
  ScalarType type_;
  int64_t length_;
  bool spreads_;
  LoadFunction<T> load_;
};

}  // namespace taper::portable
