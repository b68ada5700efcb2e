#include "backends/vulkan/runtime/gpu/matrix_units.h"

#include <algorithm>
#include <vector>

#include "backends/vulkan/runtime/gpu/extensions.h"

namespace taper::vulkan {
namespace {

// What the largest tiles need.
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
constexpr int32_t kFloat16 = 0, kFloat32 = 1, kInt8 = 3, kInt32 = 5, kSubgroupScope = 3;
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

std::vector<CooperativeMatrixShape> shapes_of(VkInstance instance, VkPhysicalDevice device) {
  const auto list = reinterpret_cast<ListShapes>(
      vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  if (list == nullptr) return {};
  uint32_t count = 0;
  list(device, &count, nullptr);
  std::vector<CooperativeMatrixShape> shapes(count);
  list(device, &count, shapes.data());
  return shapes;
}

bool multiplies(const CooperativeMatrixShape& s, int32_t factor, int32_t sum) {
  return s.a == factor && s.b == factor && s.c == sum && s.result == sum &&
         s.saturates == VK_FALSE && s.scope == kSubgroupScope;
}

bool has_halves(const std::vector<CooperativeMatrixShape>& shapes) {
  return std::any_of(shapes.begin(), shapes.end(), [](const CooperativeMatrixShape& s) {
    return s.m == 16 && s.n == 16 && s.k == 16 && multiplies(s, kFloat16, kFloat32);
  });
}

// The largest that tiles of byte_units.comp are made of by no more subgroups than a workgroup may
// have, and whose rows are whole words of 16 bytes.
std::array<uint32_t, 3> largest_of_bytes(const std::vector<CooperativeMatrixShape>& shapes) {
  constexpr uint32_t kLeast = 128, kMost = 256, kSide = 32;
  std::array<uint32_t, 3> best = {};
  for (const CooperativeMatrixShape& s : shapes) {
    const auto divides = [](uint32_t of, uint32_t size) { return size != 0 && of % size == 0; };
    const bool fits = multiplies(s, kInt8, kInt32) && divides(kSide, s.m) && divides(kSide, s.n) &&
                      s.m * s.n >= kLeast && s.m * s.n <= kMost && (s.k == 16 || s.k == 32);
    if (fits && s.m * s.n * s.k > best[0] * best[1] * best[2]) best = {s.m, s.n, s.k};
  }
  return best;
}

}  // namespace

MatrixUnits::MatrixUnits(VkInstance instance, VkPhysicalDevice device) {
  float16_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES;
  float16_.pNext = &matrix_;
  memory_model_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES;
  memory_model_.pNext = &float16_;
  const bool has_units = has_extension(device, kExtension) && has_features(device);
  if (has_units) subgroup_ = subgroup_size(device);
  const std::vector<CooperativeMatrixShape> shapes =
      subgroup_ == 0 ? std::vector<CooperativeMatrixShape>() : shapes_of(instance, device);
  if (float16_.shaderInt8 == VK_TRUE && is_linked("byte_units")) {
    byte_fragment_ = largest_of_bytes(shapes);
  }
  const bool halves =
      float16_.shaderFloat16 == VK_TRUE && is_linked("matrix_units") && has_halves(shapes);
  float16_.shaderFloat16 = halves ? VK_TRUE : VK_FALSE;
  float16_.shaderInt8 = byte_fragment_[0] != 0 ? VK_TRUE : VK_FALSE;
}

bool MatrixUnits::has_features(VkPhysicalDevice device) {
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &memory_model_;
  vkGetPhysicalDeviceFeatures2(device, &features);
  return matrix_.matrices == VK_TRUE && memory_model_.vulkanMemoryModel == VK_TRUE;
}

// Nothing is switched on that is not used.
const void* MatrixUnits::features() {
  matrix_.robust = VK_FALSE;
  memory_model_.vulkanMemoryModelDeviceScope = VK_FALSE;
  memory_model_.vulkanMemoryModelAvailabilityVisibilityChains = VK_FALSE;
  return are_there() ? &memory_model_ : nullptr;
}

}  // namespace taper::vulkan
