// The geometry of a convolution in channels last, [images, height, width, channels]: sizes of
// images, results and windows; strides (`step`), dilation and padding.

#pragma once

#include <cstdint>

namespace taper::optimized {

struct WindowShape {
  int64_t images = 1, height = 0, width = 0, channels = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t window_height = 1, window_width = 1;
  int64_t step_down = 1, step_across = 1;
  int64_t dilation_down = 1, dilation_across = 1;
  int64_t padding_top = 0, padding_left = 0;
};

}  // namespace taper::optimized
