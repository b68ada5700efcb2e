// Regions of images, and the grid of bins that each is divided into: what the operators roi_align,
// roi_pool, ps_roi_align and ps_roi_pool share.
//
//   input   [n, c, height, width]
//   rois    [k, 5], rows (index of the image, x1, y1, x2, y2), of the input's floating dtype
//   out     [k, channels, rows, columns] of that dtype
//
// The position-sensitive operators (ps_) read one channel of the input for each channel of the
// result and bin: channel (c * rows + row) * columns + column, so there are c / (rows * columns)
// channels in the result. They also return these numbers, int32 with the sizes of out.

#pragma once

#include "kernels_portable/cores/vision/image.h"
#include "taper/kernel.h"

namespace taper::portable {

struct Bins {
  int64_t rows, columns;
  bool position_sensitive;

  int64_t count() const { return rows * columns; }
  // The channel of the input that a bin's first channel comes from, and how many channels the next
  // one is away.
  int64_t first_channel(int64_t row, int64_t column) const {
    return position_sensitive ? row * columns + column : 0;
  }
  int64_t channel_step() const { return position_sensitive ? count() : 1; }
};

// Checks dtypes and sizes, and resizes `out` and, unless it is null, `second`, which is int32.
Status prepare_regions(const Tensor& input, const Tensor& rois, const Bins& bins, Tensor& out,
                       Tensor* second);

// Writes to `mapping` the channel of the input that each element of the result comes from.
void write_channels(const Bins& bins, Tensor& mapping);

template <typename T>
struct Region {
  int64_t image;
  T x1, y1, x2, y2;  // In pixels of the input: scaled.
};

// Row `k` of `rois`. An error if it names an image that is not there.
template <typename T>
Status read_region(const Tensor& rois, int64_t k, T scale, int64_t images, Region<T>* region) {
  T row[5];
  const ScalarType type = rois.scalar_type();
  const Span<const int32_t> strides = rois.strides();
  loader<T>(type)(element(rois.const_data(), k * strides[0], type), strides[1], 5, row);
  TAPER_REQUIRE(row[0] > T(-1) && row[0] < static_cast<T>(images), Error::kInvalidArgument,
                "a region names an image that is not there");
  *region = {static_cast<int64_t>(row[0]), row[1] * scale, row[2] * scale, row[3] * scale,
             row[4] * scale};
  return {};
}

// Calls each(k, region) for every row of `rois`. An error as above ends it.
template <typename T, typename Each>
Status for_regions(const Tensor& rois, double scale, int64_t images, const Each& each) {
  for (int64_t k = 0; k < rois.size(0); ++k) {
    Region<T> region;
    TAPER_TRY(read_region(rois, k, static_cast<T>(scale), images, &region));
    each(k, region);
  }
  return {};
}

}  // namespace taper::portable
