// Depthwise convolutions of images whose channels lie together, [images, height, width, channels],
// with windows that are wide or high, and steps of 1 or 2.
//
// A vector of channels of several results in a row is computed at once: each pixel is read once for
// all windows of the row that it is in, each weight once for all results. So a multiplication needs
// less than half a read, where it needs two when results are computed one by one. Windows that are
// not 5 or 7 wide are taken a few columns at a time. (Windows of 3 x 3 are bound by the memory, and
// better read in the order in which it lies.)

#pragma once

#include <cstdint>

#include "kernels_optimized/window_shape.h"

namespace taper::optimized {

struct DepthwiseData {
  const float* image = nullptr;
  const float* filter = nullptr;  // [window height, window width, channels]
  const float* bias = nullptr;    // One per channel; null: none.
  float* out = nullptr;
  // What is done to a result last.
  bool is_swish = false;  // result * sigmoid(result)
  float min = 0, max = 0;
};

// Rows of results, counted over all images, and channels. `first_channel` is a multiple of
// depthwise_channels().
struct DepthwisePart {
  int64_t first_row = 0, rows = 0;
  int64_t first_channel = 0, channels = 0;
};

// False if there is no such form for the step, or none for this processor, or if it is not worth it
// for so small a window.
bool has_depthwise(int64_t window_height, int64_t window_width, int64_t step);

// So many channels are computed at once.
int64_t depthwise_channels();

// REQUIRES: has_depthwise(), the same step down and across, no dilation. Threads: parts that do not
// overlap may be computed at once.
void depthwise(const WindowShape& shape, const DepthwiseData& data, const DepthwisePart& part);

}  // namespace taper::optimized
