// float16 nodes that the backend takes as float32 are widened to float32.
//
//     before   %y: float16 = aten::linear(%x, %w, %b)    after   %f: float32 = copy(%x, float32)
//              %z: float16 = aten::relu(%y)                      %y: float32 = linear(%f, %w', %b')
//                                                                %z: float32 = aten::relu(%y)
//                                                                %h: float16 = copy(%z, float16)
//
// Weights are widened, which is exact. Intermediate results are not rounded to 16 bits, so errors
// are about as large as PyTorch's, and results are close to PyTorch's. bfloat16 is left alone: with
// its 8 bits of precision, PyTorch's rounding after each node is visible in the results.
//
// Runs      in Edge, before partition, for the backends that say so. Groups that would not pay are
//           left as they are, and so is what a backend of higher preference takes as float16.
// Keeps     the types of inputs and outputs.
// Cost      one walk; constants twice as large.

#pragma once

#include "exir/delegate/partition.h"

namespace taper::exir {

// Whether the backend has float16 widened and would keep a node whole then.
bool keeps_whole_in_float(const BackendCompiler& backend, const Node& node, const Graph& graph);

// Returns the number of nodes that were widened.
int compute_in_float(Graph& graph, const BackendCompilers& backends, Groups groups);

}  // namespace taper::exir
