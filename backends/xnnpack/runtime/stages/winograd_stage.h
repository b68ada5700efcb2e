// A stage for a convolution with a 3 x 3 window: Winograd transforms of kernels_optimized around a
// batch of matrix products by XNNPACK. It is used where that is clearly less work. One of volumes
// also replaces the nodes that gather their slices.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/stages/stage.h"
#include "backends/xnnpack/runtime/stages/volume_search.h"
#include "kernels_optimized/cores/winograd.h"

namespace taper::xnnpack {

class WinogradStage final : public Stage {
 public:
  // The best tile width for a node; 0 if XNNPACK's own convolution is better, or the only possible
  // one.
  static uint32_t best_tile(const XnnNode& node, Span<const XnnValue> values);
  // An upper bound of the memory that it needs besides its arguments and its result, while it is
  // built or runs.
  static uint64_t extra_bytes(const XnnNode& node, uint32_t tile);

  ~WinogradStage() override;

  // The node and its bias must live as long as this. The filters are transformed unless the cache
  // of `shared` contains them. `volume` is the run that the node ends, if there is one.
  Status build(const XnnNode& node, Span<const XnnValue> values, uint32_t tile,
               const VolumeNodes& volume, const Shared& shared);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // The products of a block: one for each point of each group.
  int64_t matrices() const { return shape_.groups * shape_.points(); }
  // Rows [begin, begin + count) of the tiles that are being computed.
  optimized::WinogradTiles tiles_at(size_t begin, size_t count) const;
  // Tasks of the pool for those rows.
  static void transform_input(void* stage, size_t begin, size_t count);
  static void transform_output(void* stage, size_t begin, size_t count);

  // The shape for images, or for the volumes that the images are gathered from.
  optimized::WinogradShape current_shape(Span<const XnnValue> values, uint32_t tile) const;

  const XnnNode* node_ = nullptr;
  VolumeNodes volume_;
  optimized::WinogradShape shape_;
  optimized::WinogradTiles tiles_;  // The tiles that are being computed.
  optimized::WinogradOutput last_;
  pthreadpool_t pool_ = nullptr;
  xnn_operator_t product_ = nullptr;
  std::unique_ptr<float[]> zeros_;
  const float* image_ = nullptr;
  float* result_ = nullptr;
  float* transformed_ = nullptr;
  float* products_ = nullptr;
};

}  // namespace taper::xnnpack
