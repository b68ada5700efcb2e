// Whether a device has the matrix units that matrix_units.comp and attention_units.comp need
// (VK_KHR_cooperative_matrix), and how they are switched on.

#pragma once

#include <volk.h>

namespace taper::vulkan {

// What VK_KHR_cooperative_matrix declares, for headers that do not have it.
struct CooperativeMatrixFeatures {
  static constexpr auto kType = static_cast<VkStructureType>(1000506000);
  VkStructureType type = kType;
  void* next = nullptr;
  VkBool32 matrices = VK_FALSE;
  VkBool32 robust = VK_FALSE;  // Whether accesses to buffers may be checked; there are none.
};

class MatrixUnits {
 public:
  static constexpr const char* kExtension = "VK_KHR_cooperative_matrix";

  // Asks the device. All of these must be there: fragments of 16 x 16 x 16 with float16 factors and
  // float32 sums, float16, Vulkan's memory model, one size of subgroups, 48 KiB of shared memory,
  // 512 invocations in a workgroup, and the shader in this program.
  MatrixUnits(VkInstance instance, VkPhysicalDevice device);

  bool are_there() const { return subgroup_ != 0; }
  // Invocations of a subgroup.
  uint32_t subgroup() const { return subgroup_; }

  // What switches them on, for VkDeviceCreateInfo::pNext; must outlive the call.
  const void* features();

 private:
  bool has_features(VkPhysicalDevice device);
  static bool has_fragments(VkInstance instance, VkPhysicalDevice device);

  CooperativeMatrixFeatures matrix_;
  VkPhysicalDeviceShaderFloat16Int8Features float16_ = {};
  VkPhysicalDeviceVulkanMemoryModelFeatures memory_model_ = {};
  uint32_t subgroup_ = 0;
};

}  // namespace taper::vulkan
