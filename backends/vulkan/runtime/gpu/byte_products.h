// Whether a device has fast products of bytes, as gemm_bytes.comp needs them
// (VK_KHR_shader_integer_dot_product), and how they are switched on.

#pragma once

#include <volk.h>

namespace taper::vulkan {

class ByteProducts {
 public:
  static constexpr const char* kExtension = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME;

  // Asks the device. The shader must be in this program, and the device must have instructions for
  // signed bytes in words; but for drivers that compute on the processor, where time matters less
  // than that the shader is tested.
  explicit ByteProducts(VkPhysicalDevice device);

  bool are_there() const { return are_there_; }

  // What switches them on, before `next`, for VkDeviceCreateInfo::pNext; must outlive the call.
  const void* features(const void* next);

 private:
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot_ = {};
  bool are_there_ = false;
};

}  // namespace taper::vulkan
