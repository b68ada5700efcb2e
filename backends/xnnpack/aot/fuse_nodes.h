// Nodes that write one function become that function's node, of Taper's own.
//
//     before   x -> Sigmoid -> s                 after   x -> Swish -> y
//              x, s -> Multiply -> y
//
// These are x * sigmoid(x); a layer or rms norm that a model writes in primitive operators, with
// the weights and bias that follow; and a constant weight and bias for each entry of the last
// dimension. Norms that are one operator become one node without this (norm_rules.cpp). What
// ExecuTorch's runtime is to read must stay as it is.

#pragma once

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

// Nodes whose results nothing reads any more stay in the list.
void fuse_nodes(NodeList& list);

}  // namespace taper::xnnpack
