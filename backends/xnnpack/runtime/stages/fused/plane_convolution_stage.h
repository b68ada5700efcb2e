// A stage for a convolution of few channels between planes, with the transposes to channels last
// before it and back after it, which take longer than the convolution itself. The kernels of
// programs without a backend compute it where it lies.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/conv_planes.h"

namespace taper::xnnpack {

class PlaneConvolutionStage final : public Stage {
 public:
  // How many nodes from `first` on are computed in this way: 3, 5 with reshapes beside the
  // convolution, or none. `uses` is the number of reads of each value, or more if it is an
  // argument.
  static size_t count(const Subgraph& graph, Span<const uint32_t> uses, size_t first);
  // The memory that build() needs in addition to what XNNPACK would need.
  static uint64_t extra_bytes(const Subgraph& graph, size_t first, size_t count);

  // The first and the number of these nodes. The graph must live as long as this.
  Status build(const Subgraph& graph, size_t first, size_t count, pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // Whether each group has one input channel, for which the kernels need no scratch.
  bool has_single_channels() const;

  const XnnNode* node_ = nullptr;
  uint32_t input_ = kNone, output_ = kNone;
  ThreadPool threads_;
  OwnFilters filter_;  // [out, in / groups, height, width].
  Tensor bias_;
  int32_t bias_size_ = 0, bias_stride_ = 1;
  uint8_t bias_dim_ = 0;
  portable::Convolution conv_ = {};
  Span<unsigned char> scratch_;
};

}  // namespace taper::xnnpack
