// The bounds of clamp and hardtanh, for each compute type.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "taper/kernel.h"

namespace taper::portable {

// min(max(x, low), high); a bound that is absent does nothing. NaN stays NaN, and so does every
// value if a bound is NaN.
struct ClampToBounds {
  ClampToBounds(std::optional<Scalar> min, std::optional<Scalar> max) {
    if (min.has_value()) {
      low = min->to_double();
      low_int = min->to_int();
    }
    if (max.has_value()) {
      high = max->to_double();
      high_int = max->to_int();
    }
    if (low != low || high != high) low = high = std::numeric_limits<double>::quiet_NaN();
  }

  int64_t operator()(int64_t x) const {
    const int64_t raised = x < low_int ? low_int : x;
    return raised > high_int ? high_int : raised;
  }
  template <typename C>
  C operator()(C x) const {
    const C bottom = static_cast<C>(low);
    const C top = static_cast<C>(high);
    const C raised = x < bottom ? bottom : x;
    return top != top ? top : (raised > top ? top : raised);
  }

  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  int64_t low_int = INT64_MIN;
  int64_t high_int = INT64_MAX;
};

}  // namespace taper::portable
