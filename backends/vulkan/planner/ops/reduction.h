// What operators of other families reduce.

#pragma once

#include "backends/vulkan/planner/ops/rows.h"

namespace taper::vulkan {

// Dispatches out[r] = the largest float of row r, or the smallest one.
void find_extremes(Call& call, bool largest, const Rows& rows, const Operand& out);

}  // namespace taper::vulkan
