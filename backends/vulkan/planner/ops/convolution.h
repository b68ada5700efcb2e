// Convolutions, for the operators that contain one.

#pragma once

#include "backends/vulkan/planner/ops/product.h"

namespace taper::vulkan {

struct Convolution {
  Operand x, weight, bias, out;
  bool has_bias = false, transposed = false;
  // Weights are bytes, and each output channel has a scale.
  bool has_bytes = false;
  Operand scales;
  FactorGrid grid;  // What x stands for.
  int64_t images = 1, in_channels = 0, out_channels = 0, groups = 1;
  int64_t group_in = 0;  // Channels that an output channel is made of.
  Dims kernel;           // The sizes of the window.
  // Strides of the weights, in elements: from an output channel to the next, from an input channel,
  // and within the window.
  int64_t row = 0, plane = 0, step = 1;
  Windows windows;
  Epilogue epilogue;
};

// Where arguments stand; by default those of aten.convolution.
struct ConvolutionPlaces {
  size_t bias = 2, stride = 3, padding = 4, dilation = 5, output_padding = 7;
  bool has_output_padding = true;
  bool bias_may_be_longer = false;
};

// Reads all else: x, the weights, their sizes and strides, and the epilogue are set.
void read_windows(Call& call, Convolution& c, const ConvolutionPlaces& at);
// Whether a thread computes an element of the result by itself, since groups have few channels.
bool is_direct(const Convolution& c);
// It as a product of the weights and the image as a matrix.
Product image_product(const Convolution& c);
// REQUIRES: weights of a transposed convolution have output channels as rows, too; unless it is
// direct, strides are those of [in, window...] or [window..., in].
void convolve(Call& call, const Convolution& c);

}  // namespace taper::vulkan
