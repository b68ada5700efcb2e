// Checks that every kernel takes the dtypes that it will be called with, so that the compiler
// rather than the device refuses them. The dtypes column of kernels_portable/ops.def says which.
//
// Runs      before to_out_variants; declared operators are checked against their type rules.
// Keeps     everything.
// Cost      one walk.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns 0. Throws Failure that lists every call that a kernel does not take.
int check_kernels(Graph& graph);

}  // namespace taper::exir
