// Products of batches with one matrix that is repeated for each of them become one product, so that
// the matrix is neither computed nor stored several times.
//
//     before   %e = aten::expand_copy(%w, [7, 64, 512])    after   %r = aten::view_copy(%x, [14, 64])
//              %y = aten::bmm(%x, %e)                              %p = aten::mm(%r, %w)
//              (%w: [64, 512], %x: [7, 2, 64])                     %y = aten::view_copy(%p, [7, 2, 512])
//
// run_decompositions() spells linear layers so if their input is a transposed view.
//
// Runs      in Edge, before fold_constants, which would repeat a constant.
// Keeps     products of dynamic sizes, and those with several matrices.
// Cost      one walk.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of products replaced.
int share_matrices(Graph& graph);

}  // namespace taper::exir
