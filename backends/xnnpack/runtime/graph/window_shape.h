// Converts the parameters of a payload's convolution for the kernels of the stages.

#pragma once

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "kernels_optimized/cores/window_shape.h"

namespace taper::xnnpack {

// REQUIRES: a convolution whose shapes are known.
inline optimized::WindowShape window_shape(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::Convolution>();
  const uint32_t* in = input(node, values).shape.dims;
  const uint32_t* out = values[node.output].shape.dims;
  optimized::WindowShape shape;
  shape.images = in[0];
  shape.height = in[1];
  shape.width = in[2];
  shape.channels = in[3];
  shape.out_height = out[1];
  shape.out_width = out[2];
  shape.window_height = t.kernel_height();
  shape.window_width = t.kernel_width();
  shape.step_down = t.stride_height();
  shape.step_across = t.stride_width();
  shape.dilation_down = t.dilation_height();
  shape.dilation_across = t.dilation_width();
  shape.padding_top = t.padding_top();
  shape.padding_left = t.padding_left();
  return shape;
}

// Whether it is a node whose filter has the output channels last; each group has one channel.
inline bool is_depthwise(const XnnNode& node) {
  return node.content_type == wire::NodeContent::DepthwiseConv2d;
}

// Whether each window is one pixel, and each pixel is one.
inline bool is_pointwise(const optimized::WindowShape& s) {
  const bool has_pixel = s.window_height == 1 && s.window_width == 1;
  return has_pixel && s.step_down == 1 && s.step_across == 1 && s.out_height == s.height &&
         s.out_width == s.width;
}

}  // namespace taper::xnnpack
