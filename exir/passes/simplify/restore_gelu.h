// A gelu that a program spells with tanh becomes one node again, which backends and kernels compute
// in one pass over memory:
//
//     before   %h = aten::mul(%x, 0.5)                            after   %y = aten::gelu(%x, "tanh")
//              %c = aten::mul(aten::pow(%x, 3.0), 0.044715)
//              %t = aten::tanh(aten::mul(aten::add(%x, %c), 0.7978845608))
//              %y = aten::mul(%h, aten::add(%t, 1.0))
//
// Sums and products may come in any order: what counts is that the argument of tanh is the same
// polynomial of x, and the result the same one of x and tanh.
//
// Runs      in Edge, after fold_constants.
// Keeps     other dtypes than float32, which PyTorch rounds after each node, and other factors.
// Cost      one walk; a few nodes for each tanh.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes replaced.
int restore_gelu(Graph& graph);

}  // namespace taper::exir
