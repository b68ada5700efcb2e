// Grouped convolutions by rows that are copied, in channels last, [images, height, width,
// channels].
//
// The channels of a group lie apart in the image, a few of each pixel. They are copied, with the
// padding, such that columns that neighbouring results read lie 16 floats apart. So no result is at
// a border, and the place of each is a constant of an instruction.
//
// Groups that fill a half or a quarter of a vector are computed two or four at a time, as a bundle.

#pragma once

#include "kernels_optimized/cores/grouped/grouped.h"

namespace taper::optimized {

// Whether the functions below may be called, and are faster than a matrix product for each group.
bool has_grouped_rows(int64_t group_channels, int64_t group_out_channels);

// REQUIRES of all functions from here on: has_grouped_rows().

// The number of floats that pack_grouped_rows() writes.
int64_t grouped_rows_filter_size(const GroupedShape& shape);
void pack_grouped_rows(const GroupedShape& shape, const GroupedFilter& filter, float* packed);

// The number of bundles of groups; most bundles are a single group.
int64_t grouped_rows_bundles(const GroupedShape& shape);

// Results of one bundle: rows [first, first + rows) of an image.
struct GroupedPart {
  int64_t bundle = 0, image = 0;
  int64_t first = 0, rows = 0;
};

// The number of floats of scratch that a part of so many rows takes.
int64_t grouped_rows_scratch(const GroupedShape& shape, int64_t rows);
// Computes a part with a filter that pack_grouped_rows() packed. Threads: parts that do not overlap
// may be computed concurrently, each with its own scratch.
void grouped_rows(const GroupedShape& shape, const GroupedData& data, const GroupedPart& part,
                  float* scratch);

}  // namespace taper::optimized
