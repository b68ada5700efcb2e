// A depthwise convolution with a large window as a stage of its own, with the swish that follows
// it, if one does: kernels_optimized/cores/depthwise.h reads each pixel once where XNNPACK reads it
// for every window.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/depthwise.h"

namespace taper::xnnpack {

class DepthwiseStage final : public Stage {
 public:
  // Whether this node can be computed so, and is large enough to be worth a stage.
  static bool is_better(const XnnNode& node, Span<const XnnValue> values);

  // `output` is the value that is written: the node's, or that of its swish. The node and its
  // constants must live as long as this.
  DepthwiseStage(const XnnNode& node, Span<const XnnValue> values, bool is_swish, uint32_t output,
                 pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // A task of the pool: some rows of a block of channels.
  static void run_part(void* stage, size_t row, size_t block, size_t rows, size_t blocks);

  const XnnNode& node_;
  const uint32_t output_;
  const pthreadpool_t pool_;
  optimized::WindowShape shape_;
  optimized::DepthwiseData data_;
  size_t rows_per_task_ = 1;
};

}  // namespace taper::xnnpack
