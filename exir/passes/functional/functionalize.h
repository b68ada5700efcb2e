// Functionalization: programs that write in place become programs that compute new values.
//
//     before   %v = aten::select.int(%x, 0, 1)        after   %v = aten::select.int(%x, 0, 1)
//              %w = aten::mul_.Scalar(%v, 2)                   %0 = aten::mul.Scalar(%v, 2)
//              %y = aten::relu(%x)                             %1 = aten::select_scatter(%x, %0, 0, 1)
//                                                              %y = aten::relu(%1)
//                                                              mutate %x = %1
//
// Every tensor of the program is an alias: of its own memory, or of another alias through a view. A
// write makes a new value for the memory behind the alias; other aliases of that memory are
// recomputed when they are next read. Buffers that are written become states; what they and written
// inputs hold at the end becomes a mutation.
//
// Runs      after inline_wrappers, before everything else that moves or merges nodes.
// Keeps     the types of all values; views stay views, but nothing is written through them.
// Refuses   writes whose effect on memory is not known: through overlapping views, resize_, set_,
//           out= arguments whose sizes change, undeclared custom operators, states written in
//           bodies of control flow.
// Cost      one walk. A graph that writes nothing is left as it is.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of writes replaced.
int functionalize(Graph& graph);

}  // namespace taper::exir
