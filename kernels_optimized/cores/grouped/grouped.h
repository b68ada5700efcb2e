// Grouped convolutions with small groups, in channels last, [images, height, width, channels].
//
// A matrix product for each group would be only a few columns wide and leave most of a vector
// empty. Here a vector of results spans several groups. The channels of a pixel that they need are
// one vector too, and the factors of each term are that vector with its lanes permuted.

#pragma once

#include <cstdint>

#include "kernels_optimized/cores/window_shape.h"

namespace taper::optimized {

struct GroupedShape : WindowShape {
  int64_t out_channels = 0;
  int64_t group_channels = 1, group_out_channels = 1;

  // The number of products that are added up for each result.
  int64_t terms() const { return window_height * window_width * group_channels; }
};

struct GroupedData {
  const float* image = nullptr;
  const float* filter = nullptr;  // Packed by pack_grouped().
  const float* bias = nullptr;    // One per output channel; null: none.
  float* out = nullptr;
  float min = 0, max = 0;  // The results are clamped to these.
};

// Whether the functions below may be called: false if groups of this size do not fit a vector of
// this processor, nor are windows single pixels and vectors parts of groups, or if groups are so
// large that matrix products are faster.
bool has_grouped(const GroupedShape& shape);

// REQUIRES of all functions from here on: has_grouped().

// The number of floats that pack_grouped() writes.
int64_t grouped_filter_size(const GroupedShape& shape);
// A filter before it is packed. The weight of output channel o for term t, which counts (window
// row, window column, channel of the group) in row-major order, is data[o * out_step + t *
// term_step].
struct GroupedFilter {
  const float* data;
  int64_t out_step, term_step;
};
void pack_grouped(const GroupedShape& shape, const GroupedFilter& filter, float* packed);

// Computes rows [first, first + rows) of the results, counted over all images. Threads: rows that
// do not overlap may be computed concurrently.
void grouped(const GroupedShape& shape, const GroupedData& data, int64_t first, int64_t rows);

}  // namespace taper::optimized
