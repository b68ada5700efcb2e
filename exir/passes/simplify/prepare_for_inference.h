// Removes what matters only to PyTorch or to training: assertions, detach, clone, inactive dropout.
//
//     before   _assert_scalar(%p, "...")              after   range u0 = [0, 7]
//              sym_constrain_range(%n, 0, 7)                  %y = aten::relu(%x)
//              %a = aten::detach(%x)
//              %b = aten::dropout(%a, 0.5, False)
//              %y = aten::relu(%b)
//
// Runs      after functionalize: only in a functional graph is a clone or detach the same as its
//           argument.
// Does      assertions, of which keep_assertions has made instructions, are removed, and
//           sym_constrain_range becomes bounds of its symbol; detach, clone, inactive dropout and
//           no-op conversions are replaced by their argument.
// Keeps     copies of the old contents of what is mutated, and copies that change the dim order.
// Refuses   batch norm that updates its statistics and active dropout: the model is in training
//           mode. Where calls are left to PyTorch's operators, that is meant: dropout is left, too.
// Cost      one walk.

#pragma once

#include <string_view>

#include "exir/ir/graph.h"
#include "exir/ops/aten_calls.h"

namespace taper::exir {

// Returns the number of nodes removed.
int prepare_for_inference(Graph& graph, Aten aten = Aten::kNo);

// True if the pass may remove a call of the operator.
bool is_dropped_for_inference(std::string_view target);

}  // namespace taper::exir
