// Finds norms, swish and softmax along any dimension in payloads of ExecuTorch, which has no nodes
// for them and expresses each by several nodes. So such a file runs as fast as one of Taper's,
// where each of these is one node and no search is needed.

#pragma once

#include "backends/xnnpack/runtime/stages/fused/fusion.h"

namespace taper::xnnpack {

// The function that the nodes from `first` on compute; its `nodes` is 0 if there is none. `uses` is
// the number of reads of each value, or more if it is an argument.
Fusion find_pattern(const Subgraph& graph, Span<const uint32_t> uses, size_t first);

}  // namespace taper::xnnpack
