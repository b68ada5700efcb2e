// What is written at the end of a call is copied first, where somebody still wants it.
//
//     before   mutate %x = %y                 after   %0 = aten::clone(%x)
//              mutate %y = %x                         %1 = aten::clone(%y)
//              return %x                              mutate %x = %1
//                                                     mutate %y = %0
//                                                     return %0
//
// Mutations happen one after another in the memory of their targets, and outputs are read when all
// are done. So an output, or what another mutation takes, must not be a target itself.
//
// Runs      when no pass removes copies any more.
// Keeps     everything else.
// Cost      one look at outputs and mutations.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of copies.
int keep_old_values(Graph& graph);

}  // namespace taper::exir
