// The device half of the Vulkan delegate. It opens the GPU when the first payload is loaded, and
// anew when one is loaded after it was lost; where there is none, or not enough memory of it,
// payloads run on the application's kernels.
// README.md says what is done with a payload.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "taper/backend_device.h"

namespace taper::vulkan {

struct Gpu;  // The device and its pipelines.
class Executable;

struct VulkanOptions {
  // A part of the name of the device that is to be taken. Empty: the first GPU, and if there is
  // none, the processor. "none": the processor.
  std::string device;
  // Whether the driver makes accesses outside a tensor harmless, as files that are not trusted need
  // it. Validation layers report such accesses only without.
  bool is_robust = true;
  // What one payload may take of the processor's memory where it runs on the processor.
  uint64_t max_bytes = uint64_t{4} << 30;
  // Other than kOwn: the processor, whatever the device.
  Numbers numbers = Numbers::kOwn;
  // The file in which compiled shaders are kept, beside the model, or null. It need not exist:
  // save_shaders() writes it, and replaces it if it cannot be used. It must outlive the backend.
  const char* cache_path = nullptr;
  // How long before the end that it expects a thread that waits for a discrete GPU begins to ask
  // again and again whether it is ready, in microseconds. 0: it leaves it to the driver to wake it,
  // which takes less of the processor's time and 20 to 50 us more until the result is there.
  uint32_t poll_us = 100;
  // Receives how long each shader took, after each execution; null: none. Dispatches then run one
  // after another. It must outlive the backend.
  Profiler* profiler = nullptr;
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
  bool has_state(void* handle) const override;
  void destroy(void* handle) override;

  // Writes VulkanOptions::cache_path if it lacks a shader that has been compiled since. Returns
  // kAccessFailed with the reason, which affects nothing else.
  Status save_shaders();
  // Which compiled shaders were found in the file.
  PackedReport cache_report() const;
  // As Device::tell_memory().
  static void tell_memory(const void* handle, MemoryListener& listener);

  // Why a payload runs on the processor; empty if none does.
  const char* note() const { return note_; }

 private:
  Result<std::shared_ptr<Gpu>> open();
  Result<void*> load(const BackendInitContext& context, Span<const uint8_t> payload,
                     CompileSpecs specs);
  Result<void*> load_on_gpu(std::shared_ptr<Gpu> gpu, const BackendInitContext& context,
                            Span<const uint8_t> payload, bool in_half);
  Result<void*> load_on_cpu(const BackendInitContext& context, Span<const uint8_t> payload,
                            bool in_half);

  const VulkanOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<Gpu> gpu_;  // Guarded by the mutex; methods hold it, too.
  bool has_no_gpu_ = false;   // Guarded by the mutex.
  std::atomic<const char*> note_{""};
};

}  // namespace taper::vulkan
