// Composite operators become operators that have kernels.
//
//     before   %1 = aten::silu(%x)       after   %0 = aten::sigmoid(%x)
//                                                %1 = aten::mul.Tensor(%x, %0)
//
// Runs      after functionalisation, before to_edge. Backends pick before it what stays whole.
// Requires  no writes; contiguous values.
// Keeps     types of all values; source locations.
// Cost      one walk per level of nesting, at most 16.
// Rules     exir/decompose: one table per family.

#pragma once

#include <functional>

#include "exir/decompose/rules.h"
#include "exir/ir/graph.h"

namespace taper::exir {

// True for operators that a backend wants whole.
using KeepWhole = std::function<bool(const Node&)>;

// Returns the number of nodes replaced. Rules in `first` go before all others. Throws Failure with
// one diagnostic per node whose rule refuses it.
int decompose(Graph& graph, const KeepWhole& keep = {}, const Decompositions& first = {});

}  // namespace taper::exir
