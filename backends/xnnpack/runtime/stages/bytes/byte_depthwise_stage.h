// A stage for a depthwise convolution of int8, on processors where
// kernels_optimized/cores/bytes/byte_depthwise.h adds up several products in an instruction and
// XNNPACK's kernels multiply each by itself. The numbers are XNNPACK's, bit for bit.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/bytes/byte_depthwise.h"

namespace taper::xnnpack {

class ByteDepthwiseStage final : public Stage {
 public:
  // Whether the node can be computed in this way, and is large enough to pay for a stage.
  static bool is_better(const XnnNode& node, Span<const XnnValue> values);
  // The bytes of packed filters.
  static uint64_t extra_bytes(const XnnNode& node, Span<const XnnValue> values);

  // The node and its constants must live as long as this.
  Status build(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  static void run_rows(void* stage, size_t row, size_t rows);

  const XnnNode* node_ = nullptr;
  pthreadpool_t pool_ = nullptr;
  optimized::WindowShape shape_;
  optimized::ByteDepthwise data_;
  OwnFilters filter_;
  size_t rows_per_task_ = 1;
};

}  // namespace taper::xnnpack
