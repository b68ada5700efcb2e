// What both halves of the Vulkan backend agree on.

#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/backend_device.h"

namespace taper::vulkan {

inline constexpr BackendIdentity kIdentity = {"vulkan", "VulkanBackend"};

// A flag, as ExecuTorch names it: products take their factors as float16, with sums of float32.
inline constexpr char kForceHalf[] = "force_fp16";

}  // namespace taper::vulkan
