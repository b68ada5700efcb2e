// What a device has besides Vulkan 1.2.

#pragma once

#include <volk.h>

#include <string_view>

namespace taper::vulkan {

bool has_extension(VkPhysicalDevice device, std::string_view name);

// Whether this program has the code of a shader: it may be trimmed, or built without its compiler.
bool is_linked(std::string_view shader);

}  // namespace taper::vulkan
