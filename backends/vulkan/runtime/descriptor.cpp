// The device half as programs that know backends by name make it. TAPER_VULKAN_DEVICE in the
// environment names the device, or a part of its name.

#include "backends/vulkan/descriptor.h"

#include <cstdlib>
#include <new>

#include "backends/vulkan/runtime/vulkan_backend.h"

namespace taper::vulkan {
namespace {

class VulkanDevice final : public Device {
 public:
  explicit VulkanDevice(std::string_view name) : backend_(name) {}
  BackendInterface& interface() override { return backend_; }

 private:
  VulkanBackend backend_;
};

std::unique_ptr<Device> make_device(const DeviceOptions&) {
  const char* name = std::getenv("TAPER_VULKAN_DEVICE");
  return std::unique_ptr<Device>(new (std::nothrow) VulkanDevice(name == nullptr ? "" : name));
}

}  // namespace

extern const DeviceDescriptor kDevice;
const DeviceDescriptor kDevice = {kIdentity, nullptr, nullptr, make_device};

}  // namespace taper::vulkan
