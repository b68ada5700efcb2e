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
//           What dequantises integers is folded whatever its size, since the result stays integers
//           (integer_constants.h). The transpose of such a matrix is left to restore_linear.
// Requires  functional graph.
// Cost      that of the kernels run.

#pragma once

#include <unordered_set>

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes replaced by constants.
int fold_constants(Graph& graph);
// The same. `widened` receives the large constants of floats that were made of narrower elements.
int fold_constants(Graph& graph, std::unordered_set<const Value*>& widened);

}  // namespace taper::exir
