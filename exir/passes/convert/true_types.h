// What versions of PyTorch state wrongly of a result, its sizes or its dtype, becomes what it is,
// and so does what is computed from it.
//
// The exported program, when PyTorch runs it, has the true ones. From PyTorch 2.11:
//
//     before   %1, %2, %3 = aten::lstm.input(...)   %2: f32[2,1,s0,8]   after   %2: f32[2,s0,8]
//              %4 = aten::select.int(%2, 0, -1)     %4: f32[1,s0,8]             %4: f32[s0,8]
//
// Runs      before decompose, whose rules compute the true ones.
// Keeps     programs whose results are stated right.
// Cost      one walk.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns how many values changed their type. Throws Failure, with a diagnostic for each, if such a
// value is read by an operator that has no type rule.
int true_types(Graph& graph);

}  // namespace taper::exir
