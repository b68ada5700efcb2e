// Convolutions of bytes on the processor, in plain loops.

#pragma once

#include "taper/kernel.h"

namespace taper::vulkan {

// A dimension of windows.
struct WindowSize {
  int64_t in = 1, out = 1, window = 1, stride = 1, pad = 0, dilation = 1;
};

// x is [images, groups * group_in, in...]. Strides of the weights are in elements: from an output
// channel to the next, from an input channel, from a place of the window.
struct ByteConvolution {
  WindowSize d[3];
  int64_t images = 1, groups = 1, group_in = 0, group_out = 0;
  int64_t row = 0, plane = 0, step = 1;
  bool transposed = false;
  const float* x = nullptr;
  const int8_t* weights = nullptr;
  const float* scales = nullptr;
  const float* bias = nullptr;  // May be null.
};

// Where the arguments of a convolution are; lists may have one item for all dimensions.
struct WindowArguments {
  IntList kernel, stride, padding, dilation, output_padding;
};

// Sets images, sizes and windows for a tensor of `sizes`; groups, group_in, group_out and
// `transposed` are set. The sizes of the result go to `out_sizes`.
Status set_windows(ByteConvolution& c, Span<const int32_t> sizes, const WindowArguments& args,
                   int32_t* out_sizes);
// Element (image, channel, at...) of the result, without its bias.
float element_of(const ByteConvolution& c, int64_t image, int64_t channel, const int64_t (&at)[3]);
// All elements, in order: out(index, value).
template <typename Store>
void convolve(const ByteConvolution& c, const Store& store) {
  int64_t index = 0;
  const int64_t channels = c.groups * c.group_out;
  for (int64_t plane = 0; plane < c.images * channels; ++plane) {
    const int64_t channel = plane % channels;
    const float bias = c.bias == nullptr ? 0 : c.bias[channel];
    int64_t at[3];
    for (at[0] = 0; at[0] < c.d[0].out; ++at[0]) {
      for (at[1] = 0; at[1] < c.d[1].out; ++at[1]) {
        for (at[2] = 0; at[2] < c.d[2].out; ++at[2]) {
          store(index++, element_of(c, plane / channels, channel, at) + bias);
        }
      }
    }
  }
}

}  // namespace taper::vulkan
