// A stage for one convolution or fully connected layer whose factors are rounded to bfloat16, where
// the program prefers that (`--precision bf16`). Everything else of the graph stays float32.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/bfloat/bfloat_product.h"
#include "kernels_optimized/cores/window_shape.h"

namespace taper::xnnpack {

class BfloatStage final : public Stage {
 public:
  // Whether the node is such a layer with constant weights, and large enough to pay for a stage.
  static bool is_better(const XnnNode& node, Span<const XnnValue> values);
  // The memory that build() needs in addition to what XNNPACK would need.
  static uint64_t extra_bytes(const XnnNode& node, Span<const XnnValue> values);

  // The node and its constants must live as long as this.
  Status build(const XnnNode& node, Span<const XnnValue> values, const Shared& shared);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // The product that the node is: of rows by weights.
  struct Layer {
    optimized::WindowShape window;  // Of a layer: its rows are pixels.
    bool has_window = false;        // If not, rows are pixels of the image.
    int64_t rows = 0, terms = 0, columns = 0;
  };
  static Layer layer_of(const XnnNode& node, Span<const XnnValue> values);
  static int64_t block_rows(const Layer& layer);
  // The bfloat16 of the image, and of the rows that a thread gathers, with one more.
  static int64_t image_size(const Layer& layer);
  static int64_t block_size(const Layer& layer);

  Status find_weights(const XnnNode& node, const XnnValue& filter, const Shared& shared);
  // If not, each block rounds its own rows.
  bool rounds_first() const { return layer_.has_window || shares_ > 1; }
  void round_pixels(int64_t begin, int64_t end) const;
  // Tasks of the pool: rounds some rows of the image; computes a share of the columns of a block.
  static void round_rows(void* stage, size_t first, size_t rows);
  static void multiply(void* stage, size_t thread, size_t block, size_t share);
  template <typename Take>
  void visit_window(int64_t row, Take take) const;
  void gather(int64_t row, int64_t index, uint16_t* rows) const;

  const XnnNode* node_ = nullptr;
  pthreadpool_t pool_ = nullptr;
  optimized::BfloatForm form_ = optimized::BfloatForm::kFloats;
  Layer layer_;
  optimized::BfloatProduct product_;
  OwnFilters own_weights_;             // Without a cache of weights.
  pthreadpool_t used_pool_ = nullptr;  // Null if the layer is small.
  size_t blocks_ = 0, shares_ = 1;     // Of rows, and of the columns of a block.
  const float* image_ = nullptr;
  uint16_t* rounded_ = nullptr;   // The image; without windows, in panels of rows.
  uint16_t* gathered_ = nullptr;  // A block for each thread.
};

}  // namespace taper::xnnpack
