// One loaded payload: its graph, and what XNNPACK made of it.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/graph.h"

// XNNPACK's own header.
#include <xnnpack.h>

namespace taper::xnnpack {

// What a delegate uses of its backend; null: one thread, a workspace of its own.
struct Shared {
  pthreadpool_t pool = nullptr;
  xnn_workspace_t workspace = nullptr;
};

class Delegate {
 public:
  Delegate() = default;
  ~Delegate();
  Delegate(const Delegate&) = delete;
  Delegate& operator=(const Delegate&) = delete;

  // Reads and builds everything.
  Status load(Span<const uint8_t> payload, const BackendInitContext& context, uint64_t max_bytes,
              const Shared& shared);
  Status execute(Span<EValue* const> args);

 private:
  struct Argument {
    void* bound = nullptr;              // What XNNPACK was told last.
    std::unique_ptr<uint8_t[]> padded;  // For inputs that must not be read past their end.
    uint64_t capacity = 0;
  };

  Status build(const Shared& shared);
  Status define_value(xnn_subgraph_t graph, Value& value) const;
  Status make_arguments();
  // Takes the sizes of the inputs over.
  Status read_sizes(Span<EValue* const> args);
  Status reshape();
  Status resize_outputs(Span<EValue* const> args);
  Status bind(Span<EValue* const> args);

  Graph graph_;
  xnn_runtime_t runtime_ = nullptr;
  std::unique_ptr<Argument[]> arguments_;
  std::unique_ptr<xnn_external_value[]> external_;
  bool is_shaped_ = false;  // XNNPACK knows the shapes that graph_ has.
  bool is_bound_ = false;
};

}  // namespace taper::xnnpack
