// Describes the device half for programs that find backends by name.

#include "test/support/backends/understudy/descriptor.h"

#include <new>

#include "test/support/backends/understudy/runtime/understudy_backend.h"

namespace taper::understudy {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{256} << 20;

class UnderstudyDevice final : public Device {
 public:
  explicit UnderstudyDevice(uint64_t max_bytes) : backend_(max_bytes) {}
  BackendInterface& interface() override { return backend_; }

 private:
  UnderstudyBackend backend_;
};

std::unique_ptr<Device> make_device(const DeviceOptions& options) {
  const uint64_t max_bytes = options.max_bytes == 0 ? kMaxBytes : options.max_bytes;
  return std::unique_ptr<Device>(new (std::nothrow) UnderstudyDevice(max_bytes));
}

}  // namespace

extern const DeviceDescriptor kDevice;
const DeviceDescriptor kDevice = {kIdentity, nullptr, nullptr, false, make_device};

}  // namespace taper::understudy
