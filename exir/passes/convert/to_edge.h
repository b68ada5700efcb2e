// From Core ATen to Edge: type promotion and scalar operands become explicit, views become copies.
//
//     before   %1 = aten::add.Tensor(%i, 2.5)         after   %1 = aten::add.Scalar(%i, 2.5)
//              %2 = aten::mul.Tensor(%h, %f)                  %0 = _to_dim_order_copy(%h, float32)
//              %3 = aten::view(%2, [-1])                      %2 = aten::mul.Tensor(%0, %f)
//                                                             %3 = aten::view_copy(%2, [-1])
//
// Runs      after decompose.
// Does      numbers in tensor slots: the Scalar overload, or a 0-d constant where there is none;
//           operands of one operator get one dtype, that of PyTorch's promotion; views become their
//           _copy twins; _to_copy and clone become dim_order_ops.
// Keeps     types of all values.
// Cost      one walk.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes replaced.
int to_edge(Graph& graph);

}  // namespace taper::exir
