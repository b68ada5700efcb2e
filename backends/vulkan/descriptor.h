// What both halves of the Vulkan backend agree on.

#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/backend_device.h"

namespace taper::vulkan {

inline constexpr BackendIdentity kIdentity = {"vulkan", "VulkanBackend"};

}  // namespace taper::vulkan
