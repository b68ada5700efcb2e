// Whether a device has the matrix units that matrix_units.comp, attention_units.comp and
// byte_units.comp need (VK_KHR_cooperative_matrix), and how they are switched on.

#pragma once

#include <volk.h>

#include <array>

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

  // Asks the device. All of these must be there: Vulkan's memory model, one size of subgroups,
  // 48 KiB of shared memory and 512 invocations in a workgroup.
  //
  // For products of float16 also fragments of 16 x 16 x 16 with float32 sums, float16, and the
  // shader in this program; for products of bytes fragments of signed bytes with int32 sums that
  // the tiles can be made of, int8, and the shader.
  MatrixUnits(VkInstance instance, VkPhysicalDevice device);

  bool are_there() const { return are_for_halves() || are_for_bytes(); }
  bool are_for_halves() const { return float16_.shaderFloat16 == VK_TRUE; }
  bool are_for_bytes() const { return float16_.shaderInt8 == VK_TRUE; }
  // Invocations of a subgroup.
  uint32_t subgroup() const { return subgroup_; }
  // m, n and k of those of bytes; 0: there are none.
  const std::array<uint32_t, 3>& byte_fragment() const { return byte_fragment_; }

  // What switches them on, for VkDeviceCreateInfo::pNext; must outlive the call.
  const void* features();

 private:
  bool has_features(VkPhysicalDevice device);

  CooperativeMatrixFeatures matrix_;
  VkPhysicalDeviceShaderFloat16Int8Features float16_ = {};  // Of these, what is used.
  VkPhysicalDeviceVulkanMemoryModelFeatures memory_model_ = {};
  uint32_t subgroup_ = 0;
  std::array<uint32_t, 3> byte_fragment_ = {};
};

}  // namespace taper::vulkan
