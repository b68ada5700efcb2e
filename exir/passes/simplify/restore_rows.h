// Rows that are quantised at run time become torchao's nodes again, which backends and kernels
// recognise, if run_decompositions() has spelled them:
//
//     before   %least = aten::minimum(aten::amin(%x, [1]), 0)
//              %most = aten::maximum(aten::amax(%x, [1]), 0)
//              %s = aten::clamp((%most - %least) / 255, eps)
//              %z = int8(clamp(-128 - round(%least / %s)))
//              %q = int8(clamp(round(%x * (1 / %s)) + %z))
//              %d = (float(%q) - float(%z)) * %s
//
//     after    %s, %z = torchao::choose_qparams_affine(%x, ...)
//              %q = torchao::quantize_affine(%x, ..., %s, %z, ...)
//              %d = torchao::dequantize_affine(%q, ..., %s, %z, ...)
//
// or, symmetrically, with %s from the larger of -%least and %most, and without %z. The extremes may
// also be those of the whole tensor, if its sizes are known.
//
// Runs      in Edge, after fold_constants.
// Keeps     chains in other dtypes than float32, and those that differ in any step.
// Cost      one walk.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes replaced.
int restore_rows(Graph& graph);

}  // namespace taper::exir
