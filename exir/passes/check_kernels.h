// Asks every kernel whether it takes the dtypes that it will be called with, so that the compiler
// and not the device says no.
//
// The kernel itself is asked, with zeros in tensors of the program's dtypes and sizes and results
// of sizes that it must refuse after it has looked at its arguments: there is no list of dtypes
// that could go stale. Equal calls are asked once.
//
// Runs      before to_out_variants; declared operators are compared with their type rule instead.
// Keeps     everything.
// Cost      one call per distinct operator and dtypes, which computes nothing.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns 0. Throws Failure that lists every call that a kernel does not take.
int check_kernels(Graph& graph);

}  // namespace taper::exir
