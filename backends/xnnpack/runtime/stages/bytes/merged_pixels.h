// Recognises a convolution that reads several pixels of an image as one, which the compiler makes
// of one of an image with few channels (aot/merge_pixels.h). That suits XNNPACK's tiles; a stage
// that takes pixels as they are computes the plain convolution that it was.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/graph/subgraph.h"
#include "kernels_optimized/cores/window_shape.h"

namespace taper::xnnpack {

// Three nodes: a reshape that merges pixels, a convolution, and a reshape that parts its results.
struct MergedPixels {
  const XnnNode* before = nullptr;  // Null: the nodes are something else.
  const XnnNode* convolution = nullptr;
  const XnnNode* after = nullptr;
  int64_t pixels = 0, places = 0;  // Of the image that are one, and of the results.
  int64_t left = 0, width = 0;     // The columns of the plain window in the merged one, in pixels.
};

// Whether the nodes from `first` on are such, in int8 and with the same filter, biases and scales
// for each place. `uses` is the number of reads of each value, or more if it is an argument.
MergedPixels find_merged_pixels(const Subgraph& graph, Span<const uint32_t> uses, size_t first);
// The same of nodes that are known to be such.
MergedPixels merged_pixels_at(const Subgraph& graph, size_t first);

// Whether the current shapes are still such.
bool are_merged(const MergedPixels& merged, Span<const XnnValue> values);
// The geometry of the plain convolution. REQUIRES: are_merged().
optimized::WindowShape plain_shape(const MergedPixels& merged, Span<const XnnValue> values);
// Its filter; null without memory.
std::unique_ptr<int8_t[]> plain_filter(const MergedPixels& merged, Span<const XnnValue> values);

}  // namespace taper::xnnpack
