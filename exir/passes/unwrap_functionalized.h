// Operators that run_decompositions() wrapped because they write their arguments, unwrapped again.
//
//     before   %0, %1 = higher_order::auto_functionalized_v2("my.push_.default", %x, 0, [%c])
//     after    %1 = aten::clone(%c)
//              my::push_(%1, %x)
//
// The wrapper hands the operator copies of the tensors that it writes, or slices of the copies, and
// returns them. Both generations are read: auto_functionalized (PyTorch 2.6) and _v2.
//
// Runs      before functionalize, which makes the writes values and leaves no copy too many.
// Refuses   operators that nobody declared, lists of tensors that are written.
// Cost      one walk.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes replaced.
int unwrap_functionalized(Graph& graph);

}  // namespace taper::exir
