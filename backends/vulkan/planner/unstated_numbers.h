// Inputs that are numbers, of which a payload does not state the largest.
//
//     values   %0 tensor f32[1, 16, 8]   %1 SymInt 0 (an input)   %2 tensor f32[16, 8]
//     calls    aten.view_copy %0 [%1, 8] -> %2                  so %1 is 16
//
// ExecuTorch's exporter writes 0 for each. Plans for the largest sizes need them, so they are found
// by trying the sizes of the payload's tensors.

#pragma once

#include "backends/vulkan/planner/payload_graph.h"

namespace taper::vulkan {

// Sets such inputs to numbers with which as many calls as possible can be planned.
void find_unstated_numbers(PayloadGraph& graph);

}  // namespace taper::vulkan
