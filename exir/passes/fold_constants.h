// What depends on constants alone is computed now, by the kernels of the device.
//
//     before   constant %w: float32[2, 3]            after   constant %p: float32[3, 2]
//              %p = aten::permute_copy(%w, [1, 0])           %y = aten::mm(%x, %p)
//              %y = aten::mm(%x, %p)
//
// Runs      in Edge, after cse: one thing is computed once.
// Keeps     nodes whose results would make the file larger: more than 1 MiB and more than what they
//           are made of; random operators; everything in bodies of control flow.
//           For a backend weights of bytes become floats whatever their size: it makes bytes of
//           them again, by the scales that the constant remembers, or computes with the floats.
// Requires  functional graph.
// Cost      that of the kernels run.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes replaced by constants.
int fold_constants(Graph& graph, bool for_backend = false);

}  // namespace taper::exir
