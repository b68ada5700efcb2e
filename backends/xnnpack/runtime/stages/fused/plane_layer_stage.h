// A stage for a layer over few channels of planes, with the transposes to channels last before it
// and back after it: the talking heads of attention, where the channels are heads.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/plane_layer.h"

namespace taper::xnnpack {

class PlaneLayerStage final : public Stage {
 public:
  // How many nodes from `first` on are computed in this way: 3 or none. `uses` is the number of
  // reads of each value, or more if it is an argument.
  static size_t count(const Subgraph& graph, Span<const uint32_t> uses, size_t first);

  // The first of these nodes. The graph must live as long as this.
  PlaneLayerStage(const Subgraph& graph, size_t first, pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // A task of the pool: some places of an image.
  static void run_places(void* stage, size_t image, size_t first, size_t images, size_t places);

  const pthreadpool_t pool_;
  const uint32_t input_, output_;
  size_t images_ = 0;
  optimized::PlaneLayer layer_;  // Of the first image.
};

}  // namespace taper::xnnpack
