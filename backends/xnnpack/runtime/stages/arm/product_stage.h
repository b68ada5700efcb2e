// A stage for a layer, or a convolution of single pixels, on 64-bit ARM, if the number of its rows
// does not suit XNNPACK's tiles. Those of kernels_optimized/cores/arm/constant_product.h have as
// many rows as are needed.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/arm/constant_product.h"

namespace taper::xnnpack {

class ProductStage final : public Stage {
 public:
  // Whether the node can be computed in this way, and there is enough to gain.
  static bool is_better(const XnnNode& node, Span<const XnnValue> values);
  // The bytes of packed weights.
  static uint64_t extra_bytes(const XnnNode& node, Span<const XnnValue> values);

  // The node and its constants must live as long as this.
  Status build(const XnnNode& node, Span<const XnnValue> values, const Shared& shared);

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // A task of the pool: some rows of some panels.
  static void multiply(void* stage, size_t row, size_t panel, size_t rows, size_t panels);

  const XnnNode* node_ = nullptr;
  pthreadpool_t pool_ = nullptr;
  pthreadpool_t used_pool_ = nullptr;  // Null if the layer is small.
  optimized::ConstantProduct product_;
  OwnFilters own_weights_;  // Without a cache of weights.
  size_t task_rows_ = 1;
};

}  // namespace taper::xnnpack
