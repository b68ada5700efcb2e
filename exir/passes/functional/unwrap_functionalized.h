// Unwraps operators that run_decompositions() has wrapped because they write their arguments.
//
//     before   %0, %1 = higher_order::auto_functionalized_v2("my.push_.default", %x, 0, [%c])
//     after    %1 = aten::clone(%c)
//              my::push_(%1, %x)
//
// The wrapper passes the operator copies of the tensors that it writes, or slices of the copies,
// and returns them. Both generations are supported: auto_functionalized (PyTorch 2.6) and _v2.
//
// Runs      before functionalize, which turns the writes into values. Later passes remove the
//           clones that are not needed.
// Refuses   undeclared operators, and lists of tensors that are written.
// Cost      one walk.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes replaced.
int unwrap_functionalized(Graph& graph);

}  // namespace taper::exir
