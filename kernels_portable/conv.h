// Convolution in one, two or three dimensions, plain or transposed, in groups: what the forward and
// the backward operators share.
//
// Spatial dimensions are always three here; those that a tensor lacks come first, with size 1. All
// tensors are read and written through strides, so every dim order works as an input; an output
// must have its positions evenly spaced (row-major and channels last have).

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::portable {

inline constexpr int kSpatial = 3;

// A tensor of images or its gradient: sizes and strides in elements.
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

// The weight, with channels named by their role and not by their place: a plain convolution stores
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

// What the schema says, before it is checked.
struct ConvOptions {
  IntList stride;
  IntList padding;
  IntList dilation;
  bool transposed;
  IntList output_padding;
  int64_t groups;
};

// Checks the options against the operands and fills in all but the output and the bias.
// `sizes` receives the sizes of the output, as many as input has.
Status describe_convolution(const Tensor& input, const Tensor& weight, const ConvOptions& options,
                            Convolution* conv, int64_t* sizes);

// The images of `tensor`, which has two more dimensions than space.
ConvImage conv_image(const Tensor& tensor);

// Computes it. Returns kNotSupported if the output's positions are not evenly spaced.
// REQUIRES: input, weight, bias and output share a dtype that is_computable().
Status convolve(const Convolution& conv);

// The form for one input channel per group, which needs no matrices. False if it does not apply.
bool convolve_depthwise(const Convolution& conv);

}  // namespace taper::portable
