// A stage that is a reshape of which several sizes are open: XNNPACK's leaves one at most. Mostly
// the result lies where the input does, and nothing moves.

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
