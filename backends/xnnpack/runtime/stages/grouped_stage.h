// A stage for a convolution with groups of few channels. XNNPACK computes a matrix product for each
// group, however narrow, and looks up the address of each pixel of each window.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/grouped/grouped_rows.h"

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
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // Tasks of the pool: some rows of results, of groups that share vectors; rows of one bundle.
  static void run_rows(void* stage, size_t first, size_t rows);
  static void run_bundle(void* stage, size_t thread, size_t block, size_t bundle);

  const XnnNode* node_ = nullptr;
  pthreadpool_t pool_ = nullptr;
  bool has_rows_ = false;  // Whether grouped_rows.h computes it, and not grouped.h.
  float* scratch_ = nullptr;
  OwnFilters filter_;
  optimized::GroupedShape shape_;
  optimized::GroupedData data_;
};

}  // namespace taper::xnnpack
