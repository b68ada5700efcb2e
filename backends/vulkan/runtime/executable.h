// A payload that has been loaded, on whatever computes it.

#pragma once

#include "taper/backend_device.h"

namespace taper::vulkan {

// Threads: one at a time.
class Executable {
 public:
  Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  virtual ~Executable() = default;

  // `args` are the inputs, then the outputs.
  virtual Status execute(BackendExecutionContext& context, Span<EValue* const> args) = 0;
  // What the program wrote into its buffers becomes again what the payload says.
  virtual Status reset() = 0;
  // Whether it has such buffers.
  virtual bool has_states() const = 0;
  virtual void tell_memory(MemoryListener& listener) const = 0;
};

}  // namespace taper::vulkan
