// The device half of the Vulkan delegate. It opens the GPU when the first payload is loaded; where
// there is none, or not enough memory of it, payloads run on the application's kernels.
// README.md says what is done with a payload.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "taper/backend.h"

namespace taper::vulkan {

struct Gpu;  // The device and its pipelines.
class Executable;

struct VulkanOptions {
  // A part of the name of the device that is to be taken. Empty: the first GPU, and if there is
  // none, the processor. "none": the processor.
  std::string device;
  // What one payload may take of the processor's memory where it runs on the processor.
  uint64_t max_bytes = uint64_t{4} << 30;
};

class VulkanBackend final : public BackendInterface {
 public:
  explicit VulkanBackend(VulkanOptions options = {});
  ~VulkanBackend();

  bool is_available() const override { return true; }
  Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                     CompileSpecs specs) override;
  Status execute(BackendExecutionContext& context, void* handle, Span<EValue* const> args) override;
  Status reset(void* handle) override;
  void destroy(void* handle) override;

  // Why a payload runs on the processor; empty if none does.
  const char* note() const { return note_; }

 private:
  Result<bool> open();
  Result<void*> load_on_gpu(const BackendInitContext& context, Span<const uint8_t> payload);
  Result<void*> load_on_cpu(const BackendInitContext& context, Span<const uint8_t> payload);

  const VulkanOptions options_;
  std::mutex mutex_;
  std::unique_ptr<Gpu> gpu_;  // Guarded by the mutex until it is there.
  bool has_no_gpu_ = false;   // Guarded by the mutex.
  std::atomic<const char*> note_{""};
};

}  // namespace taper::vulkan
