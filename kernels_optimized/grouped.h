// Convolutions of small groups of channels, of images whose channels lie together, [images, height,
// width, channels].
//
// A product of matrices for each group would be a few columns wide and leave most of a vector
// empty. Here a vector of results reaches over several groups: what they need of a pixel is one
// vector too, and each of its terms that vector with its lanes in another order.

#pragma once

#include <cstdint>

#include "kernels_optimized/window_shape.h"

namespace taper::optimized {

struct GroupedShape : WindowShape {
  int64_t out_channels = 0;
  int64_t group_channels = 1, group_out_channels = 1;

  // Of each result.
  int64_t terms() const { return window_height * window_width * group_channels; }
};

struct GroupedData {
  const float* image = nullptr;
  const float* filter = nullptr;  // As pack_grouped() writes it.
  const float* bias = nullptr;    // One per out channel; null: none.
  float* out = nullptr;
  float min = 0, max = 0;  // The results' bounds.
};

// False if groups of this size do not fit a vector of this processor, or if they are so large that
// products of matrices are faster.
bool has_grouped(int64_t group_channels, int64_t group_out_channels);

// REQUIRES of all from here on: has_grouped().

// How many floats pack_grouped() writes.
int64_t grouped_filter_size(const GroupedShape& shape);
// Where a filter has the factor of a term (window height, window width, group channels) of an out
// channel: so many floats after that of the one before.
struct GroupedFilter {
  const float* data;
  int64_t out_step, term_step;
};
void pack_grouped(const GroupedShape& shape, const GroupedFilter& filter, float* packed);

// Rows [first, first + rows) of the results, counted over all images. Threads: rows that do not
// overlap may be computed at once.
void grouped(const GroupedShape& shape, const GroupedData& data, int64_t first, int64_t rows);

}  // namespace taper::optimized
