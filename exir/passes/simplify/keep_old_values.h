// Copies the old contents of what the end of a call overwrites, where they are still needed.
//
//     before   mutate %x = %y                 after   %0 = aten::clone(%x)
//              mutate %y = %x                         %1 = aten::clone(%y)
//              return %x                              mutate %x = %1
//                                                     mutate %y = %0
//                                                     return %0
//
// Mutations overwrite their targets one after another at the end of a call, and outputs are read
// after that. So neither an output nor the source of a mutation may be a target itself.
//
// Runs      after all passes that remove copies.
// Keeps     everything else.
// Cost      one look at outputs and mutations.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of copies.
int keep_old_values(Graph& graph);

}  // namespace taper::exir
