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
inline Images images_of(const Tensor& tensor) {
  const int64_t first = tensor.dim() - 3;  // The dimension of channels.
  const auto size = [&](int64_t d) { return tensor.size(first + d); };
  const auto stride = [&](int64_t d) -> int64_t {
    return tensor.strides()[static_cast<size_t>(first + d)];
  };
  return {tensor.mutable_data(),
          tensor.scalar_type(),
          first == 0 ? 1 : tensor.size(0),
          size(0),
          size(1),
          size(2),
          first == 0 ? 0 : tensor.strides()[0],
          stride(0),
          stride(1),
          stride(2)};
}

}  // namespace taper::portable
