#include "backends/vulkan/runtime/gpu/matrix_units.h"

#include <algorithm>
#include <vector>

#include "backends/vulkan/runtime/gpu/extensions.h"

namespace taper::vulkan {
namespace {

// What the largest tiles of matrix_units.comp need.
constexpr uint32_t kSharedBytes = 48 * 1024, kInvocations = 512;

// What the extension declares, as CooperativeMatrixFeatures in the header.
struct CooperativeMatrixShape {
  VkStructureType type = static_cast<VkStructureType>(1000506001);
  void* next = nullptr;
  uint32_t m = 0, n = 0, k = 0;
  int32_t a = 0, b = 0, c = 0, result = 0;  // Component types.
  VkBool32 saturates = VK_FALSE;
  int32_t scope = 0;
};
constexpr int32_t kFloat16 = 0, kFloat32 = 1, kSubgroupScope = 3;
using ListShapes = VkResult(VKAPI_PTR*)(VkPhysicalDevice, uint32_t*, CooperativeMatrixShape*);

// The size of subgroups if there is only one; 0 otherwise.
uint32_t subgroup_size(VkPhysicalDevice device) {
  VkPhysicalDeviceSubgroupSizeControlProperties sizes = {};
  sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &sizes;
  vkGetPhysicalDeviceProperties2(device, &properties);
  const bool is_known = properties.properties.apiVersion >= VK_API_VERSION_1_3 ||
                        has_extension(device, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  const VkPhysicalDeviceLimits& limits = properties.properties.limits;
  const bool fits = sizes.minSubgroupSize == sizes.maxSubgroupSize && sizes.maxSubgroupSize <= 64 &&
                    limits.maxComputeSharedMemorySize >= kSharedBytes &&
                    limits.maxComputeWorkGroupInvocations >= kInvocations &&
                    limits.maxComputeWorkGroupSize[0] >= kInvocations;
  return is_known && fits ? sizes.minSubgroupSize : 0;
}

}  // namespace

MatrixUnits::MatrixUnits(VkInstance instance, VkPhysicalDevice device) {
  float16_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES;
  float16_.pNext = &matrix_;
  memory_model_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES;
  memory_model_.pNext = &float16_;
  const bool are_there = is_linked("matrix_units") && has_extension(device, kExtension) &&
                         has_features(device) && has_fragments(instance, device);
  if (are_there) subgroup_ = subgroup_size(device);
}

bool MatrixUnits::has_features(VkPhysicalDevice device) {
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &memory_model_;
  vkGetPhysicalDeviceFeatures2(device, &features);
  return matrix_.matrices == VK_TRUE && float16_.shaderFloat16 == VK_TRUE &&
         memory_model_.vulkanMemoryModel == VK_TRUE;
}

bool MatrixUnits::has_fragments(VkInstance instance, VkPhysicalDevice device) {
  const auto list = reinterpret_cast<ListShapes>(
      vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  if (list == nullptr) return false;
  uint32_t count = 0;
  list(device, &count, nullptr);
  std::vector<CooperativeMatrixShape> shapes(count);
  list(device, &count, shapes.data());
  return std::any_of(shapes.begin(), shapes.end(), [](const CooperativeMatrixShape& s) {
    return s.m == 16 && s.n == 16 && s.k == 16 && s.a == kFloat16 && s.b == kFloat16 &&
           s.c == kFloat32 && s.result == kFloat32 && s.saturates == VK_FALSE &&
           s.scope == kSubgroupScope;
  });
}

// Nothing is switched on that is not used.
const void* MatrixUnits::features() {
  matrix_.robust = VK_FALSE;
  float16_.shaderInt8 = VK_FALSE;
  memory_model_.vulkanMemoryModelDeviceScope = VK_FALSE;
  memory_model_.vulkanMemoryModelAvailabilityVisibilityChains = VK_FALSE;
  return are_there() ? &memory_model_ : nullptr;
}

}  // namespace taper::vulkan
