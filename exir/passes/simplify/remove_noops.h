// Removes no-ops: movements of data that move nothing.
//
//     before   %a = aten::slice_copy.Tensor(%x, 0, 0, 9223372036854775807, 1)     after   %c = use(%x)
//              %b = aten::permute_copy(%a, [0, 1])
//              %c = use(%b)
//
// Runs      in Core ATen and Edge, after folding; again before partitioning.
// Does      copies, views, slices, expands, pads and repeats whose result has the type of their
//           argument and holds the same; permutes that restore an order; a view of a view; a
//           bool's conversion on its way to another dtype; cat of one tensor, and empty tensors in
//           a cat.
// Keeps     what CopyGuard says must be a copy.
// Cost      one walk.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes removed or simplified.
int remove_noops(Graph& graph);

}  // namespace taper::exir
