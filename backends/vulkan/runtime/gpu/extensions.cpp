#include "backends/vulkan/runtime/gpu/extensions.h"

#include <algorithm>
#include <vector>

#include "backends/vulkan/runtime/shader_code.h"

namespace taper::vulkan {

bool has_extension(VkPhysicalDevice device, std::string_view name) {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> all(count);
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, all.data());
  return std::any_of(all.begin(), all.end(),
                     [=](const VkExtensionProperties& each) { return name == each.extensionName; });
}

bool is_linked(std::string_view shader) {
  const Span<const ShaderCode* const> all = shader_code();
  return std::any_of(all.begin(), all.end(), [=](const ShaderCode* each) {
    return each->name == shader && each->words != 0;
  });
}

}  // namespace taper::vulkan
