// Products with a constant matrix of integers, or of codes (Value::codes) whose dimensions are
// exchanged, become linear layers, whose weights backends and kernels take as they are.
//
//     before   %t = aten::permute_copy(%w, [1, 0])          after   %y = aten::linear(%x, %w, %b)
//              %y = aten::addmm(%b, %x, %t)
//
//     before   %p = aten::mm(%x, %q)   (%q: integers)       after   %y = aten::linear(%x, %w)
//              %y = aten::mul(%p, %s)                       (%w: %q transposed, with scales %s)
//
// A matrix that is repeated for each batch, the changes of sizes around a product, and a bias that
// is added behind it become parts of the layer.
//
// What torchao spells by aten::_int_mm, with rows that are quantised at run time, becomes a layer
// whose input is dequantised (byte_product.h).
//
// Runs      in Edge, after fold_constants.
// Keeps     products with other matrices.
// Cost      one walk; a matrix that is stored transposed is copied.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes replaced.
int restore_linear(Graph& graph);

}  // namespace taper::exir
