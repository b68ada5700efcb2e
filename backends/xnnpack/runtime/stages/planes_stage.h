// A stage for the first convolution of a network: of an image with a plane for each of a few
// channels, together with the transpose before it, or of an image with one channel.

#pragma once

#include "backends/xnnpack/runtime/stages/fused/epilogue.h"
#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/planes.h"

namespace taper::xnnpack {

// Whether node `first` is a transpose that makes an image, channels last, of planes, which the next
// node alone reads. `uses` is the number of reads of each value, or more if it is an argument.
bool is_from_planes(const Subgraph& graph, Span<const uint32_t> uses, size_t first);

// How many nodes from `first` on are a convolution that is_better() accepts of planes: 2 with the
// transpose before it, 1 if the image has one channel, 0 if it is neither.
size_t count_of_planes(const Subgraph& graph, Span<const uint32_t> uses, size_t first,
                       bool (*is_better)(const XnnNode& node, Span<const XnnValue> values));

class PlanesStage final : public Stage {
 public:
  // How many nodes from `first` on are computed in this way, as count_of_planes() counts them.
  static size_t count(const Subgraph& graph, Span<const uint32_t> uses, size_t first);
  // The memory that build() needs for so many nodes in addition to what XNNPACK would need.
  static uint64_t extra_bytes(const Subgraph& graph, size_t first, size_t count);

  // `epilogue` is a function of each result. The graph must live as long as this.
  Status build(const Subgraph& graph, size_t first, size_t count, const Fusion& epilogue,
               pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  static void run_row(void* stage, size_t thread, size_t row);

  uint32_t image_ = kNone;  // The value with the planes.
  const XnnNode* node_ = nullptr;
  Fusion epilogue_;
  pthreadpool_t pool_ = nullptr;
  OwnFilters filter_;
  optimized::PlanesShape shape_;
  optimized::PlanesData data_;
  float* panels_ = nullptr;  // One for each thread.
};

}  // namespace taper::xnnpack
