// A part of a graph that runs in one go. The stages of a graph run one after another; where the
// values lie that several of them use, or that come from outside, they are told.

#pragma once

#include <cstdint>

#include "backends/xnnpack/runtime/graph/subgraph.h"
#include "backends/xnnpack/runtime/stages/work_memory.h"

#include <xnnpack.h>

namespace taper::xnnpack {

// What a delegate uses of its backend; null: one thread, memory of its own.
struct Shared {
  pthreadpool_t pool = nullptr;
  WorkMemory* memory = nullptr;
  // Has the weights that are packed already, and memory for the others.
  xnn_weights_cache_t weights = nullptr;
};

class Stage {
 public:
  Stage() = default;
  virtual ~Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Makes ready for the shapes that the values have now.
  virtual Status reshape(Span<const XnnValue> values) = 0;
  // The bytes that it needs while it runs, after reshape().
  virtual uint64_t scratch_bytes() const { return 0; }
  // places[id] is where value `id` lies, if more than one stage uses it. `scratch` is aligned to 64
  // bytes.
  virtual Status bind(Span<void* const> places, void* scratch) = 0;
  virtual Status run() = 0;
};

inline Status status_of(xnn_status status, const char* text) {
  if (status == xnn_status_success) return {};
  return Status(status == xnn_status_out_of_memory ? Error::kDelegateMemoryAllocationFailed
                                                   : Error::kDelegateInvalidCompatibility,
                text);
}

}  // namespace taper::xnnpack
