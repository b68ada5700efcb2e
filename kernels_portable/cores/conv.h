// Convolution in one, two or three dimensions, plain or transposed, in groups: what the forward and
// the backward operators share.
//
// There are always three spatial dimensions here; those that a tensor lacks come first and have
// size 1. All tensors are accessed through strides, so inputs may have any dim order; the positions
// of an output must be evenly spaced, as they are in row-major order and in channels last.

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::portable {

struct Multipliers;  // gemm.h

inline constexpr int kSpatial = 3;

// A tensor of images, or its gradient. Strides are in elements.
struct ConvImage {
  void* data;
  ScalarType type;
  int64_t channels;
  int64_t size[kSpatial];
  int64_t batch_stride;
  int64_t channel_stride;
  int64_t stride[kSpatial];

  int64_t positions() const { return size[0] * size[1] * size[2]; }
  // The distance between neighbouring positions in row-major order, or 0 if it varies.
  int64_t position_stride() const;
};

// The weight, whose channel dimensions are named by role: a plain convolution stores
// [out, in / groups, ...], a transposed one [in, out / groups, ...].
struct ConvWeight {
  void* data;
  int64_t out_stride;
  int64_t in_stride;
  int64_t size[kSpatial];
  int64_t stride[kSpatial];

  int64_t taps() const { return size[0] * size[1] * size[2]; }
  int64_t tap_offset(int64_t a, int64_t b, int64_t c) const {
    return a * stride[0] + b * stride[1] + c * stride[2];
  }
};

// out[n, o, y] = bias[o] + sum over i, t of weight[o, i, t] * in[n, i, x], where
//     x = y * stride - padding + t * dilation     in a plain convolution,
//     y = x * stride - padding + t * dilation     in a transposed one.
struct Convolution {
  int64_t batch;
  int64_t groups;
  ConvImage in;
  ConvImage out;
  ConvWeight weight;
  const Tensor* bias;  // Null, or one element for each output channel.
  int64_t stride[kSpatial];
  int64_t padding[kSpatial];
  int64_t dilation[kSpatial];
  bool transposed;

  int64_t group_in() const { return in.channels / groups; }
  int64_t group_out() const { return out.channels / groups; }
};

// The options as the operator's schema has them, unchecked.
struct ConvOptions {
  IntList stride;
  IntList padding;
  IntList dilation;
  bool transposed;
  IntList output_padding;
  int64_t groups;
};

// Checks the options against the operands and fills in all of `conv` but the output and the bias.
// `sizes` receives the sizes of the output, which has as many dimensions as the input.
Status describe_convolution(const Tensor& input, const Tensor& weight, const ConvOptions& options,
                            Convolution* conv, int64_t* sizes);

// Describes `tensor`, which has a batch, a channel and one to three spatial dimensions.
ConvImage conv_image(const Tensor& tensor);

// Computes the convolution. Returns kNotSupported if the output's positions are not evenly spaced.
// REQUIRES: input, weight, bias and output share a dtype that is_computable().
Status convolve(const Convolution& conv, const Multipliers* by = nullptr);

// Computes a depthwise convolution in float, with one input channel per group. Returns false,
// having written nothing, if `conv` is not one.
bool convolve_depthwise(const Convolution& conv);

}  // namespace taper::portable
