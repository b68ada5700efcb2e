// What results are clamped to while they are stored: the activation that follows a product.

#pragma once

#include <limits>

namespace taper::optimized {

// Neither is NaN. A result that is NaN stays NaN. If low is above high, all others are high.
struct Bounds {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  // Whether there is anything to clamp.
  bool clamps() const {
    return low > -std::numeric_limits<float>::infinity() ||
           high < std::numeric_limits<float>::infinity();
  }
  float clamp(float x) const {
    const float least = x < low ? low : x;
    return least > high ? high : least;
  }
};

}  // namespace taper::optimized
