// Nodes of float16 that the backend takes as float32 compute as float32.
//
//     before   %y: float16 = aten::linear(%x, %w, %b)    after   %f: float32 = copy(%x, float32)
//              %z: float16 = aten::relu(%y)                      %y: float32 = linear(%f, %w', %b')
//                                                                %z: float32 = aten::relu(%y)
//                                                                %h: float16 = copy(%z, float16)
//
// Weights are widened, which loses nothing. In between nothing is rounded to 16 bits, so results
// are about as close to the true ones as PyTorch's, and to PyTorch's. That is why bfloat16 is left
// alone: with its 8 bits, what PyTorch rounds after each node is seen in the results.
//
// Runs      in Edge, before partition. Groups that would not pay are left as they are.
// Keeps     the types of what goes in and out.
// Cost      one walk; constants twice as large.

#pragma once

#include "exir/delegate/partition.h"

namespace taper::exir {

// Whether the backend would keep a node whole if its float16 values were float32.
bool keeps_whole_in_float(const BackendCompiler& backend, const Node& node, const Graph& graph);

// Returns the number of nodes that compute as float32 now.
int compute_in_float(Graph& graph, const BackendCompiler& backend, Groups groups);

}  // namespace taper::exir
