// Depthwise convolutions of int8, in channels last: on x86-64 from AVX2 on, in windows of most
// sizes, and on 64-bit ARM with dot products of bytes (SDOT), in windows of 3 x 3 or 5 x 5 that
// move by one or two pixels each way. The numbers are exactly these:
//
//     out = clamp(zero_out + round(scale[c] * (bias[c] + sum over a window of (x - zero_in) * w)))
//
// where the product with the scale is rounded to a float, and that to the nearest integer, of
// two to the even one. Padding counts as zero_in.
//
// Filters are [height, width, channels].

#pragma once

#include <cstdint>

#include "kernels_optimized/cores/window_shape.h"

namespace taper::optimized {

// Whether the processor has such instructions, and there is a form for the window.
bool has_byte_depthwise(const WindowShape& shape);

// Whether it takes less time than XNNPACK's form, or than what takes its place there
// (backends/xnnpack/library). REQUIRES, as all functions below: has_byte_depthwise() of a shape
// with the same window and channels.
bool is_byte_depthwise_faster(const WindowShape& shape);

struct ByteFilter {
  const int8_t* weights = nullptr;
  const int32_t* bias = nullptr;  // One per channel; null: none.
  const float* scales = nullptr;  // One per channel.
  int32_t zero_in = 0;
};

// Whether all sums, whatever the image is, stay in the range in which they are converted and
// rounded exactly.
bool has_exact_sums(const WindowShape& shape, const ByteFilter& filter);

// The bytes of a packed filter.
int64_t byte_depthwise_size(const WindowShape& shape);

// Packs a filter to `to`, aligned to 16 bytes. REQUIRES: has_exact_sums(), too.
void pack_byte_depthwise(const WindowShape& shape, const ByteFilter& filter, void* to);

struct ByteDepthwise {
  const int8_t* image = nullptr;
  int8_t* out = nullptr;         // Must not overlap with the image.
  const void* filter = nullptr;  // Packed.
  int8_t zero_in = 0, zero_out = 0;
  int8_t min = -128, max = 127;
};

// Computes rows [row, row + rows) of all images, counted through them. Threads: accesses only the
// memory that is passed.
void byte_depthwise(const WindowShape& shape, const ByteDepthwise& data, int64_t row, int64_t rows);

}  // namespace taper::optimized
