// Limits of devices, as far as plans depend on them, for what no device here can show. They are
// what drivers of these kinds report (vulkan.gpuinfo.org); none is meant to be exact.

#pragma once

#include "backends/vulkan/planner/plan.h"

namespace taper::vulkan {

struct LimitsProfile {
  const char* name;
  Limits limits;
};

// The least that Vulkan asks for is the first.
Span<const LimitsProfile> limits_profiles();

}  // namespace taper::vulkan
