// Payloads of ExecuTorch have no nodes for norms, swish and softmax along any dimension: several
// nodes of XNNPACK write them. Here they are found again, so that such a file runs as fast as one
// of Taper's, in which each of these is one node and nothing is searched for.

#pragma once

#include "backends/xnnpack/runtime/stages/fusion.h"

namespace taper::xnnpack {

// The function that the nodes from `first` on write; its `nodes` is 0 if there is none. `uses` says
// of every value how often it is read, or more if it is an argument.
Fusion find_pattern(const Subgraph& graph, Span<const uint32_t> uses, size_t first);

}  // namespace taper::xnnpack
