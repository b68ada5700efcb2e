// A stage for a convolution with a window of 3 x 3, 1 x 3 or 3 x 1: Winograd transforms of
// kernels_optimized around a batch of matrix products by XNNPACK or, on 64-bit ARM, of
// kernels_optimized. It is used where that is clearly less work. One of volumes also replaces the
// nodes that gather their slices.
//
// Several threads compute a block each, if each can have one of its own that is large enough: then
// no matrix passes from one to another. Otherwise they share the work of each block.

#pragma once

#include <atomic>
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

  // The node and its bias must live as long as this. The filters are transformed unless the cache
  // of `shared` contains them. `volume` is the run that the node ends, if there is one.
  Status build(const XnnNode& node, Span<const XnnValue> values, uint32_t tile,
               const VolumeNodes& volume, const Shared& shared);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // A block of tiles that is being computed: its matrices and their product.
  struct Block {
    ~Block();
    const WinogradStage* stage = nullptr;
    optimized::WinogradTiles tiles;
    xnn_operator_t product = nullptr;  // Null if the stage multiplies by itself.
    float* transformed = nullptr;
    float* products = nullptr;
  };

  // The products of a block: one for each point of each group.
  int64_t matrices() const { return shape_.groups * shape_.points(); }
  // The bytes of the matrices of a tile.
  int64_t tile_bytes() const { return matrices() * (shape_.terms() + shape_.out_channels) * 4; }
  // Tasks of the pool: rows [begin, begin + count) of a block, and a block.
  static void transform_input(void* block, size_t begin, size_t count);
  static void transform_output(void* block, size_t begin, size_t count);
  static void run_own_block(void* stage, size_t thread, size_t index);
  // Computes a panel of the product of a matrix of a block.
  static void multiply(void* block, size_t matrix, size_t panel);

  // The most tiles of a block, if each thread has one of its own.
  int64_t own_tiles(size_t threads) const;
  // How many blocks threads compute at a time: one for each of them, or one. The number of tiles of
  // each block is in `rows`.
  size_t divide(int64_t& rows) const;
  xnn_status run_block(Block& block, size_t index, pthreadpool_t pool) const;
  // Finds or packs the filters of all products, for XNNPACK or for multiply().
  Status build_products(const XnnValue& filter, const Shared& shared);
  Status reshape_products();

  // The shape for images, or for the volumes that the images are gathered from.
  optimized::WinogradShape current_shape(Span<const XnnValue> values, uint32_t tile) const;

  const XnnNode* node_ = nullptr;
  VolumeNodes volume_;
  optimized::WinogradShape shape_;
  optimized::WinogradOutput last_;
  pthreadpool_t pool_ = nullptr;
  std::unique_ptr<Block[]> blocks_;
  size_t most_blocks_ = 1, block_count_ = 1;  // How many there are, and how many are used.
  int64_t rows_ = 0;                          // The tiles of a block.
  std::atomic<xnn_status> failure_{xnn_status_success};
  std::unique_ptr<float[]> zeros_;
  const float* filters_ = nullptr;  // Of multiply(), if it is used.
  OwnFilters own_filters_;          // Holds them without a cache of weights.
  const float* image_ = nullptr;
  float* result_ = nullptr;
};

}  // namespace taper::xnnpack
