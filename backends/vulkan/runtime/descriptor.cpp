// The device half as programs that know backends by name make it. README.md says what
// TAPER_VULKAN_DEVICE and TAPER_VULKAN_VALIDATION in the environment do.

#include "backends/vulkan/descriptor.h"

#include <cstdlib>

#include "backends/vulkan/runtime/vulkan_backend.h"
#include "taper/out_of_memory.h"

namespace taper::vulkan {
namespace {

VulkanOptions backend_options(const DeviceOptions& options) {
  VulkanOptions mine;
  const char* name = std::getenv("TAPER_VULKAN_DEVICE");
  if (name != nullptr) mine.device = name;
  mine.numbers = options.numbers;
  mine.is_robust = std::getenv("TAPER_VULKAN_VALIDATION") == nullptr;
  if (options.max_bytes != 0) mine.max_bytes = options.max_bytes;
  mine.cache_path = options.packed_path;
  mine.profiler = options.profiler;
  return mine;
}

class VulkanDevice final : public Device {
 public:
  explicit VulkanDevice(const DeviceOptions& options) : backend_(backend_options(options)) {}
  BackendInterface& interface() override { return backend_; }
  Status save_packed() override { return backend_.save_shaders(); }
  PackedReport packed_report() const override { return backend_.cache_report(); }
  void tell_memory(const void* handle, MemoryListener& listener) const override {
    VulkanBackend::tell_memory(handle, listener);
  }
  const char* note() const override { return backend_.note(); }

 private:
  VulkanBackend backend_;
};

std::unique_ptr<Device> make_device(const DeviceOptions& options) {
  return make_or_null<VulkanDevice>(options);
}

}  // namespace

extern const DeviceDescriptor kDevice;
const DeviceDescriptor kDevice = {kIdentity, nullptr, "vkcache", true, make_device};

}  // namespace taper::vulkan
