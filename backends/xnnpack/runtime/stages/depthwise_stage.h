// A stage for a depthwise convolution, and the swish or hardswish after it if there is one.
// kernels_optimized/cores/depthwise.h reads each pixel once; XNNPACK reads it for every window.

#pragma once

#include "backends/xnnpack/runtime/stages/fused/epilogue.h"
#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/depthwise.h"

namespace taper::xnnpack {

// The swish or hardswish that follows node `n`, a depthwise convolution, and is computed with it,
// or none.
Fusion find_swish(const Subgraph& graph, Span<const uint32_t> uses, size_t n);

// What the convolution reads besides its image, which is followed by `swish` if that has nodes.
optimized::DepthwiseData depthwise_data(const XnnNode& node, Span<const XnnValue> values,
                                        const Fusion& swish);

class DepthwiseStage final : public Stage {
 public:
  // Whether the node can be computed in this way, and is large enough to pay for a stage. With
  // `in_half` XNNPACK would compute it in float16.
  static bool is_better(const XnnNode& node, Span<const XnnValue> values, bool in_half);

  // `swish` is that of find_swish(). The node and its constants must live as long as this.
  DepthwiseStage(const XnnNode& node, Span<const XnnValue> values, const Fusion& swish,
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
  // Of all images, and of depthwise_channels() each.
  int64_t rows_ = 0, blocks_ = 0;
  int64_t rows_per_task_ = 1, blocks_per_task_ = 1;
};

}  // namespace taper::xnnpack
