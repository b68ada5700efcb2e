// A stage for the first convolution of a network in int8: of an image with a plane for each of a
// few channels, together with the transpose before it, or of an image with one channel. Where the
// compiler merged pixels (merged_pixels.h), the stage takes the place of the reshapes, too. It
// gives the bytes that XNNPACK gives.

#pragma once

#include "backends/xnnpack/runtime/stages/bytes/merged_pixels.h"
#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/bytes/byte_planes.h"

namespace taper::xnnpack {

class BytePlanesStage final : public Stage {
 public:
  // How many nodes from `first` on are computed in this way, as count_of_planes() counts them, and
  // the two reshapes where pixels are merged.
  static size_t count(const Subgraph& graph, Span<const uint32_t> uses, size_t first);
  // The memory that build() needs for so many nodes in addition to what XNNPACK would need.
  static uint64_t extra_bytes(const Subgraph& graph, size_t first, size_t count);

  // The graph must live as long as this.
  Status build(const Subgraph& graph, size_t first, size_t count, pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  static void run_row(void* stage, size_t thread, size_t row);
  uint64_t panel_bytes() const;

  uint32_t image_ = kNone;  // The value with the planes.
  uint32_t output_ = kNone;
  const XnnNode* node_ = nullptr;
  MergedPixels merged_;
  pthreadpool_t pool_ = nullptr;
  OwnFilters packed_;  // The scales, the biases and the filter.
  optimized::BytePlanesShape shape_;
  optimized::BytePlanesData data_;
  uint8_t* panels_ = nullptr;  // One for each thread.
};

}  // namespace taper::xnnpack
