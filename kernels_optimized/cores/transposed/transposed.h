// Transposed convolution in channels last, of few output channels, or of each channel by itself. A
// convolution whose windows are one pixel apart is one, too, with the window turned around.
//
// A product of the usual form, in which each result gathers the inputs that reach it, has as many
// columns as a group has output channels, and leaves most of a vector empty if those are few. Here
// each input pixel is multiplied by all pixels of its window at once, which are many columns, and
// the products are added to the results that they reach. Channels by themselves need no product:
// results are sums over a few pixels, with channels side by side in vectors.

#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels_optimized/cores/bounds.h"
#include "kernels_optimized/cores/window_shape.h"

namespace taper::optimized {

// height, width and channels are those of the input; a window is what one input pixel reaches. A
// padding may be negative: then no pixel reaches the first results.
struct TransposedShape : WindowShape {
  int64_t out_channels = 0;
  bool is_depthwise = false;  // Whether each channel is a group.
  bool is_turned = false;     // Whether the first tap of the filter is the last of the window.

  int64_t taps() const { return window_height * window_width; }
  // The columns of the product.
  int64_t columns() const { return taps() * out_channels; }
};

// How many input pixels are multiplied at a time: their products stay in the cache.
inline int64_t block_pixels(const TransposedShape& s) {
  constexpr int64_t kMostFloats = int64_t{16} << 10, kLeastPixels = 24;
  const int64_t most = std::max(kMostFloats / s.columns(), kLeastPixels);
  return std::min(most, s.height * s.width);
}

struct TransposedData {
  const float* image = nullptr;
  const float* filter = nullptr;  // As pack_transposed() wrote it.
  const float* bias = nullptr;    // Null: none.
  float* out = nullptr;
  Bounds bounds = {};
};

// The floats of a packed filter, and of the memory that pack_transposed() needs while it packs.
int64_t transposed_filter_floats(const TransposedShape& shape);
int64_t transposed_packing_floats(const TransposedShape& shape);
// Packs `filter`, [out_channels, window_height, window_width, channels of a group].
void pack_transposed(const TransposedShape& shape, const float* filter, float* scratch, float* to);

// The floats of scratch that transposed() needs.
int64_t transposed_scratch(const TransposedShape& shape);

// Computes `rows` rows of results from `first` on, of one image. REQUIRES: has_vectors()
// (kernels_optimized/cores/gemm.h), and a dilation of 1 if it is depthwise. Threads: rows that do
// not overlap may be computed concurrently, each with a scratch of its own.
void transposed(const TransposedShape& shape, const TransposedData& data, int64_t image,
                int64_t first, int64_t rows, float* scratch);

}  // namespace taper::optimized
