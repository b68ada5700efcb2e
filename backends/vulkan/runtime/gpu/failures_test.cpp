// Lets every call of Vulkan that can fail fail once, in every way that it can: nothing crashes, the
// error says what happened, results are right or there are none, all can be destroyed, and after a
// shortage of memory everything goes on.

#include <array>
#include <cstring>
#include <set>

#include "backends/vulkan/runtime/gpu/backend_for_test.h"
#include "backends/vulkan/runtime/gpu/device.h"

namespace taper::vulkan {
namespace {

// Which call fails, counted over all functions below, and with what.
struct Fault {
  int at = -1;  // Never.
  VkResult result = VK_SUCCESS;
  int calls = 0;
  std::string hit;  // The function that failed; empty: none yet.
};
Fault fault;

bool fails_now(const char* name) {
  if (fault.calls++ != fault.at) return false;
  fault.hit = name;
  return true;
}

// Where it is not known whether the GPU is still at work, nothing is freed, which leak checkers
// would report.
bool is_spared() {
#if defined(__SANITIZE_ADDRESS__)
  return fault.result != VK_ERROR_DEVICE_LOST;
#else
  return false;
#endif
}

// All functions of a device that the backend calls and that can fail.
#define TAPER_FALLIBLE(f)                                                                      \
  f(vkAllocateCommandBuffers) f(vkAllocateDescriptorSets) f(vkAllocateMemory)                  \
      f(vkBeginCommandBuffer) f(vkBindBufferMemory) f(vkCreateBuffer) f(vkCreateCommandPool)   \
          f(vkCreateComputePipelines) f(vkCreateDescriptorPool) f(vkCreateDescriptorSetLayout) \
              f(vkCreateFence) f(vkCreatePipelineCache) f(vkCreatePipelineLayout)              \
                  f(vkCreateQueryPool) f(vkCreateShaderModule) f(vkEndCommandBuffer)           \
                      f(vkGetPipelineCacheData) f(vkGetQueryPoolResults) f(vkMapMemory)        \
                          f(vkQueueSubmit) f(vkResetFences) f(vkWaitForFences)

// A function that calls the driver's, unless it is its turn to fail.
template <typename Function>
struct Wrapper;
template <typename... Args>
struct Wrapper<VkResult(VKAPI_PTR*)(Args...)> {
  template <const char* const& kName, PFN_vkVoidFunction& kDriver, bool kCallsAnyway>
  static VKAPI_ATTR VkResult VKAPI_CALL call(Args... args) {
    const bool fails = fails_now(kName);
    if (fails && !kCallsAnyway) return fault.result;
    const VkResult result = reinterpret_cast<VkResult(VKAPI_PTR*)(Args...)>(kDriver)(args...);
    return fails && !(kCallsAnyway && is_spared()) ? fault.result : result;
  }
};

#define TAPER_NAME(name)                      \
  constexpr const char* kName_##name = #name; \
  PFN_vkVoidFunction driver_##name = nullptr;
TAPER_FALLIBLE(TAPER_NAME)

struct Entry {
  const char* name;
  PFN_vkVoidFunction* driver;
  PFN_vkVoidFunction wrapper;
};

// What it waits for is done, even where waiting fails: else its memory could not be freed.
#define TAPER_ENTRY(name)                                           \
  Entry{#name, &driver_##name,                                      \
        reinterpret_cast<PFN_vkVoidFunction>(                       \
            &Wrapper<PFN_##name>::call<kName_##name, driver_##name, \
                                       std::string_view(#name) == "vkWaitForFences">)},
const Entry kEntries[] = {TAPER_FALLIBLE(TAPER_ENTRY)};

PFN_vkGetDeviceProcAddr driver_finds = nullptr;
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find(VkDevice device, const char* name) {
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.name, name) != 0) continue;
    *entry.driver = driver_finds(device, name);
    return entry.wrapper;
  }
  return driver_finds(device, name);
}

PFN_vkCreateDevice driver_creates = nullptr;
VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                             const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator,
                                             VkDevice* device) {
  return fails_now("vkCreateDevice") ? fault.result
                                     : driver_creates(physical, info, allocator, device);
}

struct NoSteps final : Profiler {
  void add(const ProfiledStep&) override {}
};

class Failures : public OnLavapipe {
 protected:
  // The first device of a process loads volk's functions, which are then replaced.
  void SetUp() override {
    OnLavapipe::SetUp();
    if (IsSkipped()) return;
    driver_finds = vkGetDeviceProcAddr;
    driver_creates = vkCreateDevice;
    vkGetDeviceProcAddr = find;
    vkCreateDevice = create_device;
  }
  void TearDown() override {
    if (driver_finds != nullptr) vkGetDeviceProcAddr = driver_finds;
    if (driver_creates != nullptr) vkCreateDevice = driver_creates;
    fault = {};
  }

  // Whether it went well; else that the error is one that a failing GPU may cause.
  static bool went_well(const Status& status) {
    if (status.ok()) return true;
    EXPECT_STRNE(status.message(), "") << fault.hit;
    const std::set<Error> allowed = {Error::kDelegateMemoryAllocationFailed, Error::kOutOfResources,
                                     Error::kDelegateInvalidCompatibility, Error::kAccessFailed,
                                     Error::kNotFound};
    EXPECT_EQ(allowed.count(status.error()), 1u) << fault.hit << ": " << status.message();
    if (fault.result == VK_ERROR_DEVICE_LOST && fault.hit != "vkCreateDevice") {
      EXPECT_EQ(status.error(), Error::kOutOfResources) << fault.hit << ": " << status.message();
    }
    return false;
  }

  // Loads two payloads, runs them, one of them with other sizes, and saves the shaders. Returns
  // how many steps failed.
  static int exercise() {
    NoSteps steps;
    VulkanOptions options = on_lavapipe();
    options.profiler = &steps;
    const std::string path = testing::TempDir() + "taper_failures.vkcache";
    options.cache_path = path.c_str();
    std::remove(path.c_str());
    VulkanBackend backend(options);
    int failed = 0;
    {
      LoadedPayload one(backend), two(backend);
      failed += !went_well(one.status) + !went_well(two.status);
      for (const int32_t rows : {4, 2}) {
        if (one.status.ok()) failed += !went_well(one.run(rows));
        if (two.status.ok()) failed += !went_well(two.run(4));
      }
      failed += !went_well(backend.save_shaders());
      const bool was_lost = fault.result == VK_ERROR_DEVICE_LOST || fault.hit == "vkWaitForFences";
      if (!fault.hit.empty() && !was_lost && one.status.ok() && two.status.ok()) {
        EXPECT_TRUE(one.run(2).ok() && two.run(3).ok()) << "after " << fault.hit;
      }
    }
    if (fault.result != VK_ERROR_DEVICE_LOST) return failed;
    fault.at = -1;
    // A program that is loaded afterwards gets the GPU anew.
    LoadedPayload later(backend);
    EXPECT_TRUE(later.status.ok() && later.run(3).ok()) << "after " << fault.hit;
    return failed;
  }

  static std::set<std::string> fail_everywhere(VkResult result) {
    std::set<std::string> hit;
    for (int at = 0;; ++at) {
      fault = {at, result, 0, ""};
      const int failed = exercise();
      if (fault.hit.empty()) return hit;
      hit.insert(fault.hit);
      // Too little memory is no failure: the kernels compute.
      EXPECT_TRUE(failed > 0 || result != VK_ERROR_DEVICE_LOST) << fault.hit;
    }
  }
};

TEST_F(Failures, OfALostDevice) {
  const std::set<std::string> hit = fail_everywhere(VK_ERROR_DEVICE_LOST);
  for (const Entry& entry : kEntries) EXPECT_EQ(hit.count(entry.name), 1u) << entry.name;
}

TEST_F(Failures, OfTheMemoryOfTheGpu) { fail_everywhere(VK_ERROR_OUT_OF_DEVICE_MEMORY); }

TEST_F(Failures, OfTheMemoryOfTheHost) { fail_everywhere(VK_ERROR_OUT_OF_HOST_MEMORY); }

TEST_F(Failures, TooLittleMemoryIsSaidWhereTheKernelsCompute) {
  VulkanBackend backend(on_lavapipe());
  fault = {1, VK_ERROR_OUT_OF_DEVICE_MEMORY, 0, ""};
  LoadedPayload loaded(backend);
  EXPECT_NE(fault.hit, "");
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  EXPECT_TRUE(loaded.run(4).ok());
  EXPECT_NE(std::string(backend.note()).find("too little memory"), std::string::npos);
}

}  // namespace
}  // namespace taper::vulkan
