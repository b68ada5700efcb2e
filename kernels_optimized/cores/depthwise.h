// Depthwise convolutions in channels last, [images, height, width, channels], at strides 1 and 2.
//
// A vector of channels of several neighbouring results is computed at once: each pixel is read once
// for all windows of the strip that contain it, each weight once for all results. So a
// multiplication needs about half a load, where it needs two if results are computed one by one.
// The next vector is that of the next channels, so memory is read in order. Windows that are not 3,
// 5 or 7 wide, or that have a dilation, are processed a few columns at a time; for windows of one
// column, neighbours are those above and below.

#pragma once

#include <cstdint>

#include "kernels_optimized/cores/window_shape.h"

namespace taper::optimized {

// What is stored: the result within bounds, result * sigmoid(result), or hardswish(result).
enum class DepthwiseActivation : uint8_t { kBounds, kSwish, kHardswish };

struct DepthwiseData {
  const float* image = nullptr;
  const float* filter = nullptr;  // [window height, window width, channels]
  const float* bias = nullptr;    // One per channel; null: none.
  float* out = nullptr;
  DepthwiseActivation activation = DepthwiseActivation::kBounds;
  float min = 0, max = 0;  // The bounds.
};

// A part of the results: some rows, counted over all images, and some channels. `first_channel` is
// a multiple of depthwise_channels().
struct DepthwisePart {
  int64_t first_row = 0, rows = 0;
  int64_t first_channel = 0, channels = 0;
};

// Whether depthwise() may be called: false if the stride or this processor is not supported.
bool has_depthwise(int64_t step);

// The number of channels that are computed at once.
int64_t depthwise_channels();

// Computes a part of the results. REQUIRES: has_depthwise(), the same stride down and across, which
// is 1 if there is a dilation. Threads: parts that do not overlap may be computed concurrently.
void depthwise(const WindowShape& shape, const DepthwiseData& data, const DepthwisePart& part);

}  // namespace taper::optimized
