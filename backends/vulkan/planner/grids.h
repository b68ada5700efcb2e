// Which factors of products stand for integers of 8 bits.

#pragma once

#include "backends/vulkan/planner/payload_graph.h"

namespace taper::vulkan {

// Tells each product if the numbers of its input, its first factor, were made of integers of 8 bits
// with one scale and one zero point, perhaps moved since:
//
//     %q = quantize_per_tensor %x ...   %y = dequantize_per_tensor %q ...   %z = linear %y ...
//
// Runs last, since it looks at what fuse() has made.
void find_grids(PayloadGraph& graph);

// The same for numbers that a payload says so of. There is none (FactorGrid::Form::kNone) if its
// scale or zero point are not usual ones.
FactorGrid factor_grid(double scale, int64_t zero, ScalarType dtype);

}  // namespace taper::vulkan
