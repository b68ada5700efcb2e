// Finds the nodes with which a convolution of volumes gathers the slices of its windows: each slice
// is copied once for each tap of the depth. A stage that reads the slices where they lie does
// without these nodes.

#pragma once

#include "backends/xnnpack/runtime/graph/subgraph.h"

namespace taper::xnnpack {

// A run of nodes: perhaps a pad with slices of zeros, for each tap a slice that is reshaped to
// images, a concatenation along the channels, a convolution.
struct VolumeNodes {
  size_t count = 0;        // 0 if there is no such run. The convolution is the last.
  uint32_t input = kNone;  // Of volumes, [n, d, h, w, c].
  uint32_t taps = 1, dilation = 1, padding = 0;
};

// The run that begins with node `first`. `uses` is the number of reads of each value.
VolumeNodes find_volume(const Subgraph& graph, Span<const uint32_t> uses, size_t first);

}  // namespace taper::xnnpack
