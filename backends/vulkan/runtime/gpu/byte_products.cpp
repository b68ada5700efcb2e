#include "backends/vulkan/runtime/gpu/byte_products.h"

#include "backends/vulkan/runtime/gpu/extensions.h"

namespace taper::vulkan {
namespace {

bool are_fast(VkPhysicalDevice device) {
  VkPhysicalDeviceShaderIntegerDotProductProperties dot = {};
  dot.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &dot;
  vkGetPhysicalDeviceProperties2(device, &properties);
  return dot.integerDotProduct4x8BitPackedSignedAccelerated == VK_TRUE ||
         properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

}  // namespace

ByteProducts::ByteProducts(VkPhysicalDevice device) {
  dot_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES;
  if (!is_linked("gemm_bytes") || !has_extension(device, kExtension)) return;
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &dot_;
  vkGetPhysicalDeviceFeatures2(device, &features);
  are_there_ = dot_.shaderIntegerDotProduct == VK_TRUE && are_fast(device);
}

const void* ByteProducts::features(const void* next) {
  if (!are_there_) return next;
  dot_.pNext = const_cast<void*>(next);
  return &dot_;
}

}  // namespace taper::vulkan
