// Handles are Executables.

#include "backends/vulkan/runtime/vulkan_backend.h"

#include <new>
#include <utility>

#include "backends/vulkan/runtime/cpu_method.h"
#include "backends/vulkan/runtime/gpu/gpu_method.h"

namespace taper::vulkan {

struct Gpu {
  explicit Gpu(std::unique_ptr<GpuDevice> opened) : device(std::move(opened)), pipelines(*device) {}
  std::unique_ptr<GpuDevice> device;
  Pipelines pipelines;
};

namespace {

constexpr char kNoGpu[] = "vulkan: there is no GPU; the kernels compute on the processor";
constexpr char kTooLittleMemory[] =
    "vulkan: the GPU has too little memory for a part of the program, which the kernels compute on "
    "the processor";

// Tensors of int64 may hold what 32 bits do not: then the processor computes that call, unless the
// GPU keeps a state.
class GpuWithSpare final : public Executable {
 public:
  GpuWithSpare(std::unique_ptr<GpuMethod> gpu, std::unique_ptr<CpuMethod> spare)
      : gpu_(std::move(gpu)), spare_(std::move(spare)) {}

  Status execute(BackendExecutionContext& context, Span<EValue* const> args) override {
    const Status status = gpu_->execute(context, args);
    return status.error() == Error::kNotSupported ? spare_->execute(context, args) : status;
  }
  Status reset() override { return {}; }

 private:
  const std::unique_ptr<GpuMethod> gpu_;
  const std::unique_ptr<CpuMethod> spare_;
};

void* handle_of(Executable* executable) { return executable; }

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

VulkanBackend::VulkanBackend(VulkanOptions options) : options_(std::move(options)) {}

VulkanBackend::~VulkanBackend() = default;

// Whether there is a GPU. A device that was asked for by name must be there.
Result<bool> VulkanBackend::open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (gpu_ != nullptr) return true;
  if (has_no_gpu_ || options_.device == "none") return false;
  Result<std::unique_ptr<GpuDevice>> device = GpuDevice::open({options_.device});
  has_no_gpu_ = device.status().error() == Error::kNotFound && options_.device.empty();
  if (has_no_gpu_) return false;
  TAPER_TRY(device.status());
  std::unique_ptr<Gpu> gpu(new (std::nothrow) Gpu(std::move(*device)));
  TAPER_REQUIRE(gpu != nullptr, Error::kDelegateMemoryAllocationFailed, "there is no memory");
  TAPER_TRY(gpu->pipelines.open());
  gpu_ = std::move(gpu);
  return true;
}

Result<void*> VulkanBackend::load_on_gpu(const BackendInitContext& context,
                                         Span<const uint8_t> payload) {
  std::unique_ptr<GpuMethod> method(new (std::nothrow) GpuMethod(*gpu_->device, gpu_->pipelines));
  TAPER_REQUIRE(method != nullptr, Error::kDelegateMemoryAllocationFailed, "there is no memory");
  TAPER_TRY(method->load(payload, NamedConstants(context)));
  if (!method->may_have_wide_inputs() || method->has_states()) return handle_of(method.release());
  std::unique_ptr<CpuMethod> spare(new (std::nothrow) CpuMethod());
  const bool has_spare =
      spare != nullptr &&
      spare->load(payload, NamedConstants(context), context, options_.max_bytes, /*reports=*/false)
          .ok();
  if (!has_spare) return handle_of(method.release());
  Executable* both = new (std::nothrow) GpuWithSpare(std::move(method), std::move(spare));
  TAPER_REQUIRE(both != nullptr, Error::kDelegateMemoryAllocationFailed, "there is no memory");
  return handle_of(both);
}

Result<void*> VulkanBackend::load_on_cpu(const BackendInitContext& context,
                                         Span<const uint8_t> payload) {
  std::unique_ptr<CpuMethod> method(new (std::nothrow) CpuMethod());
  TAPER_REQUIRE(method != nullptr, Error::kDelegateMemoryAllocationFailed, "there is no memory");
  TAPER_TRY(method->load(payload, NamedConstants(context), context, options_.max_bytes,
                         /*reports=*/true));
  return handle_of(method.release());
}

Result<void*> VulkanBackend::init(BackendInitContext& context, Span<const uint8_t> payload,
                                  CompileSpecs) {
  const Result<bool> has_gpu = open();
  TAPER_TRY(has_gpu.status());
  if (*has_gpu) {
    Result<void*> loaded = load_on_gpu(context, payload);
    if (loaded.error() != Error::kDelegateMemoryAllocationFailed) return loaded;
  }
  Result<void*> loaded = load_on_cpu(context, payload);
  if (loaded.ok()) note_ = *has_gpu ? kTooLittleMemory : kNoGpu;
  return loaded;
}

Status VulkanBackend::execute(BackendExecutionContext& context, void* handle,
                              Span<EValue* const> args) {
  return static_cast<Executable*>(handle)->execute(context, args);
}

Status VulkanBackend::reset(void* handle) { return static_cast<Executable*>(handle)->reset(); }

void VulkanBackend::destroy(void* handle) { delete static_cast<Executable*>(handle); }

}  // namespace taper::vulkan
