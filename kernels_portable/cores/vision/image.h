// A tensor [batch, channels, height, width] or [channels, height, width] as images, with the sizes
// and strides of four dimensions in either case.

#pragma once

#include <cstdint>

#include "kernels_portable/engine/convert.h"
#include "taper/kernel.h"

namespace taper::portable {

struct Images {
  void* data;
  ScalarType type;
  int64_t batch, channels, height, width;
  int64_t batch_stride, channel_stride, row_stride, column_stride;

  int64_t offset(int64_t n, int64_t c, int64_t y, int64_t x) const {
    return n * batch_stride + c * channel_stride + y * row_stride + x * column_stride;
  }
  void* at(int64_t n, int64_t c, int64_t y, int64_t x) const {
    return element(data, offset(n, c, y, x), type);
  }
  // True if the channels of a pixel are contiguous, and not the pixels of a row.
  bool is_channels_last() const {
    return channel_stride == 1 && column_stride != 1 && channels > 1;
  }
};

// REQUIRES: the rank of `tensor` is 3 or 4.
Images images_of(const Tensor& tensor);

}  // namespace taper::portable
