// Replaces nodes that together compute one function by one node of Taper's own kinds.
//
//     before   x -> Sigmoid -> s                 after   x -> Swish -> y
//              x, s -> Multiply -> y
//
// The functions are x * sigmoid(x); a layer or RMS norm in primitive operators, with the weights
// and bias that follow; and x * weight + bias with constants for each element of the last
// dimension. Norms that are one operator become one node without this (norm_rules.cpp). Not for
// payloads for ExecuTorch, whose runtime does not have these kinds.

#pragma once

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

// Nodes whose results are no longer read stay in the list.
void fuse_nodes(NodeList& list);

}  // namespace taper::xnnpack
