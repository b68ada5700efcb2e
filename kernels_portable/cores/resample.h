// What the upsampling operators share: the sizes of the output, and the scale from output to input
// coordinates.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "kernels_portable/cores/vision/image.h"
#include "taper/kernel.h"

namespace taper::portable {

// One spatial dimension that is resized.
struct Axis {
  int64_t in;
  int64_t out;
  double factor;  // The scale factor if the program gives one, otherwise 0.

  // Input pixels per output pixel, rounded as PyTorch rounds it.
  template <typename T>
  T scale(bool align_corners) const {
    if (align_corners) {
      return out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) : T{0};
    }
    if (factor > 0) return static_cast<T>(std::min(1.0 / factor, 2147483648.0));
    return static_cast<T>(in) / static_cast<T>(out);
  }
};

struct Resampling {
  Images in;
  Images out;
  Axis rows;
  Axis columns;
};

// For operators that take an output size or scale factors: requires exactly one of them, resizes
// `out` and fills in `resampling`. The input must have four dimensions, of which only the batch may
// be empty.
Status describe_resampling(const Tensor& input, std::optional<IntList> output_size,
                           std::optional<DoubleList> factors, Tensor& out, Resampling* resampling);

}  // namespace taper::portable
