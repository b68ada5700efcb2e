// Common subexpression elimination: two nodes that compute the same become one.
//
//     before   %a = aten::exp(%x)             after   %a = aten::exp(%x)
//              %b = aten::exp(%x)                     %c = aten::add.Tensor(%a, %a, 1)
//              %c = aten::add.Tensor(%a, %b, 1)
//
// Runs      on functional graphs; equal small constants are merged first.
// Keeps     random operators, control flow, and what differs in any argument or result type.
// Cost      one walk, which computes a key for each node.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes removed.
int cse(Graph& graph);

}  // namespace taper::exir
