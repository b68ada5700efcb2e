// The device half of the Vulkan delegate. It opens the GPU when the first payload is loaded.
// README.md says what is done with a payload.

#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "taper/backend.h"

namespace taper::vulkan {

struct Gpu;  // The device and its pipelines.

class VulkanBackend final : public BackendInterface {
 public:
  // `device_name` is a part of the name of the device that is to be taken; empty: the first GPU.
  explicit VulkanBackend(std::string_view device_name = {});
  ~VulkanBackend();

  bool is_available() const override { return true; }
  Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                     CompileSpecs specs) override;
  Status execute(BackendExecutionContext& context, void* handle, Span<EValue* const> args) override;
  void destroy(void* handle) override;

 private:
  Status open();

  const std::string device_name_;
  std::mutex mutex_;
  std::unique_ptr<Gpu> gpu_;  // Guarded by the mutex until it is there.
};

}  // namespace taper::vulkan
