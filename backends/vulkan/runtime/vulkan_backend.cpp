// Handles are GpuMethods.

#include "backends/vulkan/runtime/vulkan_backend.h"

#include <new>
#include <utility>

#include "backends/vulkan/runtime/gpu/gpu_method.h"

namespace taper::vulkan {

struct Gpu {
  explicit Gpu(std::unique_ptr<GpuDevice> opened) : device(std::move(opened)), pipelines(*device) {}
  std::unique_ptr<GpuDevice> device;
  Pipelines pipelines;
};

namespace {

class NamedConstants final : public ConstantSource {
 public:
  explicit NamedConstants(const BackendInitContext& context) : context_(context) {}
  Result<Span<const uint8_t>> find(std::string_view key) const override {
    const Result<NamedData> found = context_.find_data(key);
    TAPER_TRY(found.status());
    return found->bytes;
  }

 private:
  const BackendInitContext& context_;
};

}  // namespace

VulkanBackend::VulkanBackend(std::string_view device_name) : device_name_(device_name) {}

VulkanBackend::~VulkanBackend() = default;

Status VulkanBackend::open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (gpu_ != nullptr) return {};
  Result<std::unique_ptr<GpuDevice>> device = GpuDevice::open({device_name_});
  TAPER_TRY(device.status());
  std::unique_ptr<Gpu> gpu(new (std::nothrow) Gpu(std::move(*device)));
  TAPER_REQUIRE(gpu != nullptr, Error::kDelegateMemoryAllocationFailed, "there is no memory");
  TAPER_TRY(gpu->pipelines.open());
  gpu_ = std::move(gpu);
  return {};
}

Result<void*> VulkanBackend::init(BackendInitContext& context, Span<const uint8_t> payload,
                                  CompileSpecs) {
  TAPER_TRY(open());
  std::unique_ptr<GpuMethod> method(new (std::nothrow) GpuMethod(*gpu_->device, gpu_->pipelines));
  TAPER_REQUIRE(method != nullptr, Error::kDelegateMemoryAllocationFailed, "there is no memory");
  TAPER_TRY(method->load(payload, NamedConstants(context)));
  return static_cast<void*>(method.release());
}

Status VulkanBackend::execute(BackendExecutionContext&, void* handle, Span<EValue* const> args) {
  return static_cast<GpuMethod*>(handle)->execute(args);
}

void VulkanBackend::destroy(void* handle) { delete static_cast<GpuMethod*>(handle); }

}  // namespace taper::vulkan
