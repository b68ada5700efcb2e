// First convolutions in int8: of images that have a plane for each of a few channels, [images,
// channels, height, width], into channels last, on processors that multiply vectors of bytes:
// x86-64 with AVX-512 VNNI, but for those with a matrix unit (AMX), which the library's tiles use.
// planes.h does the same in float.
//
// An instruction adds up the products of four bytes. Taps of a window that lie side by side in a
// row of a plane are four such bytes, so nothing is wasted for a lack of channels but what fills up
// the last four of a row. As in planes.h the rows that a row of results needs are copied to a
// panel, with zero points beside them.

#pragma once

#include <cstdint>

#include "kernels_optimized/cores/window_shape.h"

namespace taper::optimized {

struct BytePlanesShape : WindowShape {
  int64_t out_channels = 0;
  int8_t zero_point = 0;  // Of the image, and of the pixels around it.
};

// What becomes of a sum of products: it is multiplied by the scale of its channel, rounded to the
// nearest integer (of two, to the even one), added to the zero point and clamped.
struct BytePlanesOutput {
  const float* scales = nullptr;  // One per channel, in the padded length of pack_byte_planes().
  int32_t zero_point = 0;
  int32_t min = -128, max = 127;
};

struct BytePlanesData {
  const int8_t* image = nullptr;
  const int8_t* filter = nullptr;  // Both packed by pack_byte_planes().
  const int32_t* biases = nullptr;
  int8_t* out = nullptr;
  BytePlanesOutput last;
};

// Whether the functions below may be called: a fit processor, few channels, steps of 1 between the
// taps of a row.
bool has_byte_planes(const BytePlanesShape& shape);

// REQUIRES of all functions from here on: has_byte_planes() of a shape with the same channels and
// window.

// The channels of the results, rounded up to whole vectors: the length of biases and scales.
int64_t byte_planes_padded(const BytePlanesShape& shape);
// The number of bytes of the packed filter.
int64_t byte_planes_filter_size(const BytePlanesShape& shape);
// `filter` is [out_channels, window_height, window_width, channels]; `bias`, one per output channel
// in units of a product, may be null. The packed biases contain what the zero point adds.
void pack_byte_planes(const BytePlanesShape& shape, const int8_t* filter, const int32_t* bias,
                      int8_t* packed, int32_t* biases);

// The number of bytes of the panel.
int64_t byte_planes_panel_size(const BytePlanesShape& shape);
// Computes a row of the results, counted over all images. Threads: rows may be computed
// concurrently, each with a panel of its own.
void byte_planes(const BytePlanesShape& shape, const BytePlanesData& data, int64_t row,
                 uint8_t* panel);

}  // namespace taper::optimized
