// A stage for a convolution or a transposed one of few output channels, or of so many that tiles of
// XNNPACK, whose products have these channels as their columns, would be partly empty; and for a
// transposed one of each channel by itself.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/transposed/transposed.h"

namespace taper::xnnpack {

class TransposedStage final : public Stage {
 public:
  // Whether the node can be computed in this way, and is large enough to pay for a stage.
  static bool is_better(const XnnNode& node, Span<const XnnValue> values);
  // The memory that build() needs in addition to what XNNPACK would need.
  static uint64_t extra_bytes(const XnnNode& node, Span<const XnnValue> values);

  // The node and its constants must live as long as this.
  Status build(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // A task of the pool: some rows of results.
  static void run_rows(void* stage, size_t thread, size_t image, size_t block);

  const XnnNode* node_ = nullptr;
  pthreadpool_t pool_ = nullptr;
  float* scratch_ = nullptr;
  int64_t task_rows_ = 1;
  OwnFilters filter_;
  optimized::TransposedShape shape_;
  optimized::TransposedData data_;
};

}  // namespace taper::xnnpack
