// A stage for a concatenation along an inner dimension, such as that of the channels: rows of the
// result are filled one after another, while XNNPACK copies all rows of one input after the other.

#pragma once

#include "backends/xnnpack/payload_format.h"
#include "backends/xnnpack/runtime/stages/stage.h"

namespace taper::xnnpack {

class JoinStage final : public Stage {
 public:
  // Whether the node is such a concatenation, and large enough to pay for a stage.
  static bool is_better(const XnnNode& node, Span<const XnnValue> values);
  // It needs no memory beside its inputs and its result.
  static uint64_t extra_bytes(const XnnNode&, Span<const XnnValue>) { return 0; }

  // The node must live as long as this.
  JoinStage(const XnnNode& node, pthreadpool_t pool) : node_(node), pool_(pool) {}

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // A task of the pool.
  static void run_rows(void* stage, size_t first, size_t count);

  const XnnNode& node_;
  const pthreadpool_t pool_;
  size_t rows_ = 0, row_bytes_ = 0;
  size_t count_ = 0;                       // The inputs.
  size_t widths_[kMostConcatenated] = {};  // The bytes that each input has of a row.
  const uint8_t* from_[kMostConcatenated] = {};
  uint8_t* to_ = nullptr;
};

}  // namespace taper::xnnpack
