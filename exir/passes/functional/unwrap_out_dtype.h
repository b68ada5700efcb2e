// Takes operators out of higher_order::out_dtype, which calls one in the type that its operands and
// the wanted dtype have in common, and casts the result. Reference representations of PT2E use it
// for sums of integers.
//
//     before   %0: int32 = higher_order::out_dtype("aten.mm.default", int32, [%a: int8, %b: int8])
//     after    %1: int32 = aten::_to_copy(%a, int32)
//              %2: int32 = aten::_to_copy(%b, int32)
//              %0: int32 = aten::mm(%1, %2)
//
// Source    out_dtype_fallback in torch/_higher_order_ops/out_dtype.py.
// Runs      with the other passes that unwrap, before functionalize.
// Refuses   operators that are not known, or that write or return more than one tensor.
// Cost      one walk.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes replaced.
int unwrap_out_dtype(Graph& graph);

}  // namespace taper::exir
