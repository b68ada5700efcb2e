// Bodies of wrap_with_set_grad_enabled and wrap_with_autocast move into the graph around them.
//
//     before   %1 = wrap_with_set_grad_enabled(False, graph { relu }, [%x])     after   %1 = relu(%x)
//
// Runs      first: a body may write what it is given, which functionalize must see.
// Autocast  the body shows operators without the casts that PyTorch makes around them. They are put
//           in: operators of the matmul family get their operands in the autocast type, numerically
//           delicate ones in float32, joining ones in the widest type. Refused where the types in
//           the file do not agree with that, or where the body holds control flow.
// Cost      one walk per level of nesting.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of wrappers inlined.
int inline_wrappers(Graph& graph);

}  // namespace taper::exir
