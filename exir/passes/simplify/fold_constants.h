// Constant folding: what depends on constants alone is computed at compile time, by the kernels
// that the device runs.
//
//     before   constant %w: float32[2, 3]            after   constant %p: float32[3, 2]
//              %p = aten::permute_copy(%w, [1, 0])           %y = aten::mm(%x, %p)
//              %y = aten::mm(%x, %p)
//
// Runs      in Edge, after cse, so that equal nodes are computed once.
// Keeps     nodes whose results would make the file larger: more than 1 MiB and more than what they
//           are made of; random operators; everything in bodies of control flow.
//           If a backend wants float weights, int8 ones are dequantised whatever their size: it
//           quantises them again with the scales that the constant keeps, or computes with the
//           floats.
// Requires  functional graph.
// Cost      that of the kernels run.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes replaced by constants.
int fold_constants(Graph& graph, bool float_weights = false);

}  // namespace taper::exir
