// A stage for a pointwise convolution and the depthwise one that alone reads its result, as they
// begin an inverted residual block.
//
// The idea: the value between them is the largest of such a network. It is computed by strips of
// rows, which stay in the cache until the depthwise convolution has read them, and is never whole
// in memory.

#pragma once

#include "backends/xnnpack/runtime/stages/depthwise_stage.h"
#include "kernels_optimized/cores/gemm.h"

namespace taper::xnnpack {

// The nodes of such a stage, in order.
struct ExpandedNodes {
  size_t count = 0;      // Of all of them; 0: there is no such stage.
  Fusion between;        // The function of the pointwise results, if there is one.
  size_t depthwise = 0;  // The depthwise convolution.
  Fusion after;          // The swish or hardswish after that, if there is one.
};

class ExpandedStage final : public Stage {
 public:
  // The nodes from `first` on that pay for a stage.
  static ExpandedNodes find(const Subgraph& graph, Span<const uint32_t> uses, size_t first);
  // The bytes of packed weights.
  static uint64_t extra_bytes(const XnnNode& pointwise, Span<const XnnValue> values);

  // The graph and its constants must live as long as this.
  Status build(const Subgraph& graph, size_t first, const ExpandedNodes& nodes,
               const Shared& shared, pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // Rows of the values between, of one image.
  struct Rows {
    int64_t first = 0, end = 0;
  };

  // A task of the pool: some rows of results.
  static void run_task(void* stage, size_t thread, size_t task);
  // Rows [row, end) of results, of one image.
  void run_rows(int64_t image, int64_t row, int64_t end, float* strip) const;
  // What results [row, end) of an image are computed from.
  Rows windows_of(int64_t row, int64_t end) const;
  // The size of a strip.
  int64_t strip_floats() const;
  // Computes the rows of an image.
  void expand(int64_t image, const Rows& rows, float* to) const;

  const XnnNode* pointwise_ = nullptr;
  const XnnNode* depthwise_ = nullptr;
  Fusion between_;
  uint32_t output_ = kNone;
  pthreadpool_t pool_ = nullptr;
  OwnFilters own_weights_;  // Without a cache for them.
  optimized::Gemm product_;
  optimized::WindowShape shape_;  // Of the depthwise convolution.
  optimized::DepthwiseData data_;
  float* strips_ = nullptr;  // One for each thread.
  int64_t strip_rows_ = 0;   // The rows of results that one is for.
  int64_t task_rows_ = 1;
};

}  // namespace taper::xnnpack
