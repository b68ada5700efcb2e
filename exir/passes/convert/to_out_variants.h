// From Edge to Backend: every call names the kernel that will run it.
//
//     before   %1 = aten::add.Tensor(%x, %y, 1)       after   %1 = aten::add.out(%x, %y, 1)
//              %n = python::add(%s, 1)                        %n = executorch_prim::add.Scalar(%s, 1)
//
// Out arguments are not among a node's arguments: its results take their place.
//
// Runs      after partitioning, before memory planning.
// Keeps     types of all values.
// Cost      one walk.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "exir/ir/graph.h"
#include "exir/ops/aten_calls.h"

namespace taper::exir {

// True if the target has a kernel of that name, and it takes the call's arguments.
using HasKernel = std::function<bool(std::string_view kernel, const Node& call)>;

// The remedy for an operator without a kernel in this runtime.
inline constexpr char kNoKernelRemedy[] =
    "no kernel or decomposition for it yet: rewrite that line with other operators, or call "
    "run_decompositions() on the exported program before saving it";

// Returns the number of nodes changed. Throws Failure that lists every operator without an out
// variant or kernel: how often it occurs, where, and what would help.
int to_out_variants(Graph& graph, const HasKernel& has_kernel,
                    const std::string& remedy = kNoKernelRemedy, Aten aten = Aten::kNo);

}  // namespace taper::exir
