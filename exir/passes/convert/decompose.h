// Composite operators become simpler operators, down to those that have kernels.
//
//     before   %1 = aten::silu(%x)       after   %0 = aten::sigmoid(%x)
//                                                %1 = aten::mul.Tensor(%x, %0)
//
// Runs      after functionalize, before to_edge. Backends choose what is kept whole.
// Requires  no writes; contiguous values.
// Keeps     types of all values; source locations.
// Cost      one walk per level of nesting, at most 16.
// Rules     exir/decompose: one table per family.

#pragma once

#include <functional>

#include "exir/decompose/rules.h"
#include "exir/ir/graph.h"

namespace taper::exir {

// True for a call that is kept, because a backend or a kernel takes it whole.
using KeepWhole = std::function<bool(const Node&)>;

// Returns the number of nodes replaced. Rules in `first` take precedence over all others. Throws
// Failure with one diagnostic per node whose rule refuses it.
int decompose(Graph& graph, const KeepWhole& keep = {}, const Decompositions& first = {});

}  // namespace taper::exir
