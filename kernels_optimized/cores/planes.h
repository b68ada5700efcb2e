// Convolutions of images that have a plane for each of a few channels, [images, channels, height,
// width], into channels last: the first layer of most networks for images.
//
// A window has too few channels for a matrix product by taps, and a transpose before it would take
// half as long as the convolution. Here the rows of the planes that a row of results needs are
// copied to a panel, with zeros beside them. For each term (a tap of a channel), the pixels of
// neighbouring results are equally far apart there, and each is multiplied with a vector of output
// channels.

#pragma once

#include <cstdint>

#include "kernels_optimized/cores/window_shape.h"

namespace taper::optimized {

struct PlanesShape : WindowShape {
  int64_t out_channels = 0;

  // The number of products that are added up for each result.
  int64_t terms() const { return window_height * window_width * channels; }
};

struct PlanesData {
  const float* image = nullptr;
  const float* filter = nullptr;  // Packed by pack_planes().
  const float* bias = nullptr;    // One per output channel; null: none.
  float* out = nullptr;
  float min = 0, max = 0;  // The results are clamped to these.
};

// Whether the functions below may be called, and are faster than a transpose and a convolution.
bool has_planes(const PlanesShape& shape);

// REQUIRES of all functions from here on: has_planes() of a shape with the same channels and
// window, and images that are at least as large.

// The number of floats that pack_planes() writes.
int64_t planes_filter_size(const PlanesShape& shape);
// `filter` is [out_channels, window_height, window_width, channels].
void pack_planes(const PlanesShape& shape, const float* filter, float* packed);

// The number of floats of the panel.
int64_t planes_panel_size(const PlanesShape& shape);
// Computes a row of the results, counted over all images. Threads: rows may be computed
// concurrently, each with a panel of its own.
void planes(const PlanesShape& shape, const PlanesData& data, int64_t row, float* panel);

}  // namespace taper::optimized
