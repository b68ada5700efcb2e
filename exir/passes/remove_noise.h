// Drops what an exported program says to PyTorch and not to us.
//
//     before   _assert_scalar(%p, "...")              after   range u0 = [0, 7]
//              sym_constrain_range(%n, 0, 7)                  %y = aten::relu(%x)
//              %a = aten::detach(%x)
//              %b = aten::dropout(%a, 0.5, False)
//              %y = aten::relu(%b)
//
// Runs      right after functionalize: only then is a clone or detach nothing but its argument.
// Does      asserts go; sym_constrain_range becomes bounds of its symbol; detach, clone, inactive
//           dropout, conversions that convert nothing become their argument.
// Keeps     copies of the old contents of what is mutated, and copies that change the dim order.
// Refuses   batch norm that updates its statistics and active dropout: the model is in training
//           mode.
// Cost      one walk.

#pragma once

#include <string_view>

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes removed.
int remove_noise(Graph& graph);

// True if the pass may take a call of the operator out.
bool is_noise(std::string_view target);

}  // namespace taper::exir
