// Activations and additions are computed by the product before them.
//
//     before   %a = aten.convolution(%x, ...)     after   %c = aten.convolution(%x, ...)
//              %b = aten.add.Tensor(%a, %y)                    + %y, then clamped from 0 on
//              %c = aten.relu(%b)
//
// Before that, patterns of calls become single calls (patterns.h).
//
// The product moves to the place of the last call that it computes. A result that something else
// reads stays.

#pragma once

#include "backends/vulkan/planner/payload_graph.h"

namespace taper::vulkan {

// A graph that is fused stays as it is.
void fuse(PayloadGraph& graph);

}  // namespace taper::vulkan
