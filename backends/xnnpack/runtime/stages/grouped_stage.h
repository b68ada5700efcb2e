// A stage for a convolution with small groups of channels. XNNPACK computes a matrix product for
// each group, however narrow.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/grouped.h"

namespace taper::xnnpack {

class GroupedStage final : public Stage {
 public:
  // Whether the node can be computed in this way, and is large enough to pay for a stage.
  static bool is_better(const XnnNode& node, Span<const XnnValue> values);
  // The memory that build() needs in addition to what XNNPACK would need.
  static uint64_t extra_bytes(const XnnNode& node, Span<const XnnValue> values);

  // The node and its constants must live as long as this.
  Status build(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // A task of the pool: some rows of results.
  static void run_rows(void* stage, size_t first, size_t rows);

  const XnnNode* node_ = nullptr;
  pthreadpool_t pool_ = nullptr;
  std::unique_ptr<float[]> filter_;
  optimized::GroupedShape shape_;
  optimized::GroupedData data_;
};

}  // namespace taper::xnnpack
