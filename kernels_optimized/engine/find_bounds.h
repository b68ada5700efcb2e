// What the operators that clamp (relu, hardtanh, clamp) have in common: by themselves, and behind
// an operator whose result they clamp in place.

#pragma once

#include <cmath>
#include <optional>

#include "kernels_optimized/cores/bounds.h"
#include "taper/kernel.h"

namespace taper::optimized {

// Sets the bounds that the arguments of clamp, hardtanh or relu name. Returns false if they name
// none, or one is NaN.
inline bool find_bounds(std::optional<Scalar> min, std::optional<Scalar> max, Bounds* bounds) {
  if (min.has_value()) bounds->low = static_cast<float>(min->to_double());
  if (max.has_value()) bounds->high = static_cast<float>(max->to_double());
  return (min.has_value() || max.has_value()) && !std::isnan(bounds->low) &&
         !std::isnan(bounds->high);
}
inline bool find_bounds(Bounds* bounds) {
  bounds->low = 0;
  return true;
}

// Whether the second of two operators, with arguments `self` and `last`, works in place on the
// result of the first.
inline bool works_in_place(const Tensor& result, const Tensor& self, const Tensor& last) {
  return &self == &result && last.const_data() == result.const_data() &&
         last.scalar_type() == result.scalar_type() && last.dim() == result.dim() &&
         last.is_contiguous();
}

}  // namespace taper::optimized
