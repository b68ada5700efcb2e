// Winograd's convolution, which multiplies 2.25 or 4 times less than others but moves more.

#pragma once

#include "backends/vulkan/planner/ops/convolution.h"

namespace taper::vulkan {

// Dispatches the convolution if its windows are 3 x 3 with stride 1 and its sizes and the limits of
// the device make that faster. Returns whether it has, or has noted a problem.
bool convolve_by_winograd(Call& call, const Convolution& c);

}  // namespace taper::vulkan
