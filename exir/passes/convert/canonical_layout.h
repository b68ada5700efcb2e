// Every tensor becomes contiguous, so that no later pass and no kernel meets another layout.
//
//     before   input %x: f32[1,3,8,8] order (0,2,3,1)      after   input %x: ... order (0,2,3,1)
//              %1 = aten::relu(%x)   (same order)                  %0 = _clone_dim_order(%x, [0,1,2,3])
//                                                                  %1 = aten::relu(%0)   contiguous
//
// Runs      after functionalize, which needs the layouts in the file to tell views from copies.
// Keeps     the layout of inputs as declared; constants and states are permuted to row-major order.
// Cost      one walk, and a copy of each constant that is not contiguous.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns how many values changed their layout.
int canonical_layout(Graph& graph);

}  // namespace taper::exir
