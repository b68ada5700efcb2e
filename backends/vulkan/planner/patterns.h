// Several calls that express one thing become one call of an operator that computes it at once.
//
//     rotary embedding   x * cos + cat([-x2, x1]) * sin, where x1 and x2 are the halves of x
//     RMS norm           x * rsqrt(mean(x^2) + eps) * weight
//     shared heads       attention to keys and values that were repeated for each group of heads
//
// A pattern is taken if nothing else reads what lies between its first and its last call, and no
// state is written meanwhile.

#pragma once

#include "backends/vulkan/planner/payload_graph.h"

namespace taper::vulkan {

void find_patterns(PayloadGraph& graph);

}  // namespace taper::vulkan
