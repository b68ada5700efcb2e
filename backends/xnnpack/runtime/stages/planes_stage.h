// A stage for the first convolution of a network: of an image with a plane for each of a few
// channels, together with the transpose before it, or of an image with one channel.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/planes.h"

namespace taper::xnnpack {

// How many nodes from `first` on are a convolution that is_better() accepts of planes: 2 with the
// transpose before it, 1 if the image has one channel, 0 if it is neither. `uses` is the number of
// reads of each value, or more if it is an argument.
size_t count_of_planes(const Subgraph& graph, Span<const uint32_t> uses, size_t first,
                       bool (*is_better)(const XnnNode& node, Span<const XnnValue> values));

class PlanesStage final : public Stage {
 public:
  // How many nodes from `first` on are computed in this way, as count_of_planes() counts them.
  static size_t count(const Subgraph& graph, Span<const uint32_t> uses, size_t first);
  // The memory that build() needs in addition to what XNNPACK would need.
  static uint64_t extra_bytes(const XnnNode& convolution, Span<const XnnValue> values);

  // `image` is the value with the planes. The node and its constants must live as long as this.
  Status build(uint32_t image, const XnnNode& convolution, Span<const XnnValue> values,
               pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  static void run_row(void* stage, size_t thread, size_t row);

  uint32_t image_ = kNone;
  const XnnNode* node_ = nullptr;
  pthreadpool_t pool_ = nullptr;
  OwnFilters filter_;
  optimized::PlanesShape shape_;
  optimized::PlanesData data_;
  float* panels_ = nullptr;  // One for each thread.
};

}  // namespace taper::xnnpack
