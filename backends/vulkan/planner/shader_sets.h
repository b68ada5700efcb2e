// Which shaders a payload may need, for programs that are linked with no others.

#pragma once

#include <set>

#include "backends/vulkan/planner/plan.h"

namespace taper::vulkan {

// As planner/shaders.def has them, in its order.
Span<const char* const> shader_names();

// The shaders that plans of the graph have, on any device and with any sizes: beside those of its
// plan for the largest sizes, all that may stand in for them. Returns why the graph has no plan if
// it has none.
Status add_shaders(PayloadGraph& graph, std::set<Shader>& shaders);

}  // namespace taper::vulkan
