// A stage for a reshape with several dynamic sizes; XNNPACK's reshape infers at most one. Usually
// the result has the same memory as the input, and nothing is copied.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"

namespace taper::xnnpack {

class MoveStage final : public Stage {
 public:
  explicit MoveStage(const XnnNode& node) : input_(node.inputs[0]), output_(node.output) {}

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  const uint32_t input_, output_;
  size_t bytes_ = 0;
  const void* from_ = nullptr;
  void* to_ = nullptr;
};

}  // namespace taper::xnnpack
