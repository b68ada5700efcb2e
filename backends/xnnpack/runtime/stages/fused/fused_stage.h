// A stage that computes a function in one pass over memory, which XNNPACK would compute by several
// nodes, each through memory, or has no fast kernel for.

#pragma once

#include "backends/xnnpack/runtime/stages/fused/fusion.h"
#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/softmax.h"

namespace taper::xnnpack {

// Computes a Fusion, row by row on the threads of a pool.
class FusedStage final : public Stage {
 public:
  FusedStage(const Fusion& fusion, pthreadpool_t pool) : fusion_(fusion), pool_(pool) {}

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // The elements of a row of the input, or of a task if there are no rows.
  size_t row_width(const Shape& shape) const;
  // A task of the pool: rows [begin, begin + count).
  static void run_rows(void* stage, size_t begin, size_t count);
  // A task of the pool: the softmax of kLinesOfATask adjacent lines.
  static void run_lines(void* stage, size_t task);

  const Fusion fusion_;
  const pthreadpool_t pool_;
  size_t count_ = 0, width_ = 1;  // The number of all elements, and of those of a row.
  portable::AroundDim around_;    // The dimension of kSoftmax, and the sizes around it.
  const float* inputs_[2] = {};
  float* output_ = nullptr;
};

}  // namespace taper::xnnpack
