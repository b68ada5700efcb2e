// Handles are Executables.

#include "backends/vulkan/runtime/vulkan_backend.h"

#include <new>
#include <utility>

#include "backends/vulkan/descriptor.h"
#include "backends/vulkan/runtime/cpu_method.h"
#include "backends/vulkan/runtime/gpu/gpu_method.h"
#include "taper/out_of_memory.h"

namespace taper::vulkan {

struct Gpu {
  Gpu(std::unique_ptr<GpuDevice> opened, const char* cache_path)
      : device(std::move(opened)), pipelines(*device, cache_path) {}
  std::unique_ptr<GpuDevice> device;
  Pipelines pipelines;
  SharedConstants constants;
};

namespace {

constexpr char kNoGpu[] = "vulkan: there is no GPU; the kernels compute on the processor";
constexpr char kTooLittleMemory[] =
    "vulkan: the GPU has too little memory for a part of the program, which the kernels compute on "
    "the processor";

// A payload on a GPU. Tensors of int64 may hold what 32 bits do not: then the processor computes
// that call, unless the GPU keeps a state.
class GpuWithSpare final : public Executable {
 public:
  explicit GpuWithSpare(std::shared_ptr<Gpu> gpu, Profiler* profiler)
      : gpu_(std::move(gpu)), method(*gpu_->device, gpu_->pipelines, gpu_->constants, profiler) {}

  Status execute(BackendExecutionContext& context, Span<EValue* const> args) override {
    const Status status = method.execute(context, args);
    const bool is_for_spare = status.error() == Error::kNotSupported && spare != nullptr;
    return is_for_spare ? spare->execute(context, args) : status;
  }
  Status reset() override { return method.reset(); }
  bool has_states() const override { return method.has_states(); }
  void tell_memory(MemoryListener& listener) const override {
    method.tell_memory(listener);
    if (spare != nullptr) spare->tell_memory(listener);
  }

 private:
  const std::shared_ptr<Gpu> gpu_;

 public:
  GpuMethod method;
  std::unique_ptr<CpuMethod> spare;  // Null: none.
};

// Whether the compile specs ask for float16. Other keys, which ExecuTorch's exporter writes for its
// own runtime, are not looked at.
Result<bool> wants_half(CompileSpecs specs) {
  bool wants = false;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].key != kForceHalf) continue;
    TAPER_REQUIRE(specs[i].value.size() == 1 && specs[i].value[0] <= 1,
                  Error::kDelegateInvalidCompatibility,
                  "the compile spec force_fp16 of the payload is not one byte, 0 or 1");
    wants = specs[i].value[0] == 1;
  }
  return wants;
}

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

// An operator that is not there is reported by its name.
Status check_names(const BackendInitContext& context, Span<const uint8_t> payload) {
  PayloadGraph graph;
  const Status status = graph.read(payload, nullptr);
  if (!graph.unknown_operator.empty()) context.report(status, graph.unknown_operator);
  return status;
}

}  // namespace

VulkanBackend::VulkanBackend(VulkanOptions options) : options_(std::move(options)) {}

VulkanBackend::~VulkanBackend() = default;

// The GPU; null if there is none. A device that was asked for by name must be there.
Result<std::shared_ptr<Gpu>> VulkanBackend::open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (options_.numbers != Numbers::kOwn) return std::shared_ptr<Gpu>();
  if (gpu_ != nullptr && !gpu_->device->is_lost()) return gpu_;
  gpu_ = nullptr;
  if (has_no_gpu_ || options_.device == "none") return gpu_;
  Result<std::unique_ptr<GpuDevice>> device =
      GpuDevice::open({options_.device, options_.is_robust, options_.poll_us});
  has_no_gpu_ = device.status().error() == Error::kNotFound && options_.device.empty();
  if (has_no_gpu_) return gpu_;
  TAPER_TRY(device.status());
  std::shared_ptr<Gpu> gpu(new (std::nothrow) Gpu(std::move(*device), options_.cache_path));
  TAPER_REQUIRE(gpu != nullptr, Error::kDelegateMemoryAllocationFailed, "there is no memory");
  TAPER_TRY(gpu->pipelines.open());
  gpu_ = std::move(gpu);
  return gpu_;
}

Result<void*> VulkanBackend::load_on_gpu(std::shared_ptr<Gpu> gpu,
                                         const BackendInitContext& context,
                                         Span<const uint8_t> payload, bool in_half) {
  std::unique_ptr<GpuWithSpare> made(new (std::nothrow)
                                         GpuWithSpare(std::move(gpu), options_.profiler));
  TAPER_REQUIRE(made != nullptr, Error::kDelegateMemoryAllocationFailed, "there is no memory");
  TAPER_TRY(made->method.load(payload, NamedConstants(context), context.pool(), in_half));
  if (!made->method.may_have_wide_inputs() || made->method.has_states())
    return handle_of(made.release());
  made->spare.reset(new (std::nothrow) CpuMethod());
  const bool has_spare =
      made->spare != nullptr &&
      made->spare->load(payload, NamedConstants(context), {&context, options_.max_bytes}).ok();
  if (!has_spare) made->spare.reset();
  return handle_of(made.release());
}

Result<void*> VulkanBackend::load_on_cpu(const BackendInitContext& context,
                                         Span<const uint8_t> payload, bool in_half) {
  std::unique_ptr<CpuMethod> method(new (std::nothrow) CpuMethod());
  TAPER_REQUIRE(method != nullptr, Error::kDelegateMemoryAllocationFailed, "there is no memory");
  const bool rounds = in_half && options_.numbers == Numbers::kRounded;
  TAPER_TRY(method->load(payload, NamedConstants(context),
                         {&context, options_.max_bytes, /*reports=*/true, rounds}));
  return handle_of(method.release());
}

Result<void*> VulkanBackend::init(BackendInitContext& context, Span<const uint8_t> payload,
                                  CompileSpecs specs) {
  return with_memory([&] { return load(context, payload, specs); });
}

Result<void*> VulkanBackend::load(const BackendInitContext& context, Span<const uint8_t> payload,
                                  CompileSpecs specs) {
  const Result<bool> in_half = wants_half(specs);
  TAPER_TRY(in_half.status());
  const Result<std::shared_ptr<Gpu>> gpu = open();
  if (gpu.error() != Error::kDelegateMemoryAllocationFailed) TAPER_TRY(gpu.status());
  TAPER_TRY(check_names(context, payload));
  const bool has_gpu = !gpu.ok() || *gpu != nullptr;
  if (gpu.ok() && has_gpu) {
    Result<void*> loaded = load_on_gpu(*gpu, context, payload, *in_half);
    if (loaded.error() != Error::kDelegateMemoryAllocationFailed) return loaded;
  }
  Result<void*> loaded = load_on_cpu(context, payload, *in_half);
  if (loaded.ok() && options_.numbers == Numbers::kOwn) {
    note_ = has_gpu ? kTooLittleMemory : kNoGpu;
  }
  return loaded;
}

Status VulkanBackend::save_shaders() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return with_memory([&] { return gpu_ != nullptr ? gpu_->pipelines.save() : Status(); });
}

PackedReport VulkanBackend::cache_report() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  PackedReport report = gpu_ != nullptr ? gpu_->pipelines.report() : PackedReport();
  report.what = "compiled shaders";
  return report;
}

void VulkanBackend::tell_memory(const void* handle, MemoryListener& listener) {
  static_cast<const Executable*>(handle)->tell_memory(listener);
}

Status VulkanBackend::execute(BackendExecutionContext& context, void* handle,
                              Span<EValue* const> args) {
  return with_memory([&] { return static_cast<Executable*>(handle)->execute(context, args); });
}

Status VulkanBackend::reset(void* handle) {
  return with_memory([&] { return static_cast<Executable*>(handle)->reset(); });
}

bool VulkanBackend::has_state(void* handle) const {
  return static_cast<const Executable*>(handle)->has_states();
}

void VulkanBackend::destroy(void* handle) { delete static_cast<Executable*>(handle); }

}  // namespace taper::vulkan
