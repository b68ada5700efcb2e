// Bodies of wrap_with_set_grad_enabled, wrap_with_autocast, strict_mode and invoke_subgraph (of
// torch.compiler.nested_compile_region) move into the graph around them.
//
//     before   %1 = wrap_with_set_grad_enabled(False, graph { relu }, [%x])     after   %1 = relu(%x)
//
// Runs      first: a body may write its arguments, which functionalize must see.
// Autocast  the body lacks the casts that PyTorch makes at run time. They are inserted: operators
//           of the matmul family get operands in the autocast dtype, numerically sensitive ones in
//           float32, concatenations in the widest dtype. Refused where the dtypes in the file
//           disagree with that, or where the body contains control flow.
// Cost      one walk per level of nesting.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of wrappers inlined.
int inline_wrappers(Graph& graph);

}  // namespace taper::exir
