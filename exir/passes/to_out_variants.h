// From Edge to Backend: every call names the kernel that will run it.
//
//     before   %1 = aten::add.Tensor(%x, %y, 1)       after   %1 = aten::add.out(%x, %y, 1)
//              %n = python::add(%s, 1)                        %n = executorch_prim::add.Scalar(%s, 1)
//
// The out arguments of an out variant are not listed: the node's results are them.
//
// Runs      after partitioning, before memory planning.
// Keeps     types of all values.
// Cost      one walk.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "exir/ir/graph.h"

namespace taper::exir {

// True if the target has a kernel of that name.
using HasKernel = std::function<bool(std::string_view)>;

// What helps where this runtime has no kernel.
inline constexpr char kNoKernelRemedy[] =
    "no kernel or decomposition for it yet: rewrite that line with other operators, or call "
    "run_decompositions() on the exported program before saving it";

// Returns the number of nodes changed. Throws Failure that lists every operator without an out
// variant or kernel: how often it occurs, where, and what would help.
int to_out_variants(Graph& graph, const HasKernel& has_kernel,
                    const std::string& remedy = kNoKernelRemedy);

// The schema of the kernel that runs a call of the operator, a prim for arithmetic on numbers. Null
// if there is none.
std::shared_ptr<const Schema> kernel_schema(const Schema& schema);

// A plain argument that a kernel writes, and the result that is its new contents: both by index.
struct WrittenResult {
  size_t arg = 0;
  size_t output = 0;
};
// Those of a kernel call that came from an operator's functional form; results that are out
// arguments come before them.
std::vector<WrittenResult> written_results(const Node& node);

// The arguments of an out variant that are its results: "out", "out0", "values", ...
bool is_out_argument(const SchemaArg& arg);

}  // namespace taper::exir
