// A stage for a convolution most of whose window lies in the padding: one with a dilation that is
// large beside the image. Each tap is a matrix product over the rectangle of results for which it
// lies inside the image. XNNPACK multiplies the padding, too.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/cores/window_shape.h"

namespace taper::xnnpack {

class TapsStage final : public Stage {
 public:
  // Whether the node can be computed in this way with less than half the work.
  static bool is_better(const XnnNode& node, Span<const XnnValue> values);
  // The memory that it needs besides its arguments and its result, at most.
  static uint64_t extra_bytes(const XnnNode& node, Span<const XnnValue> values);

  // The node and its constants must live as long as this.
  Status build(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // The rows and columns of results for which a tap lies inside the image, and how far away from a
  // result the tap is.
  struct Rectangle {
    int64_t top, bottom, left, right;
    int64_t down, across;

    int64_t width() const { return right - left; }
    int64_t rows() const { return bottom - top; }
  };

  static Rectangle rectangle_of(const optimized::WindowShape& shape, int64_t tap);
  // About as many multiplications per pair of channels as take the time of a product of all taps
  // over their rectangles, or over all results.
  static int64_t cost_of(const optimized::WindowShape& shape, bool has_rectangles);

  // Whether the pixels of the tap's rectangle follow one another in memory.
  bool is_contiguous(const Rectangle& r) const;
  // The place of a row of the rectangle, counted through all images, in an image of this size.
  int64_t place_of(const Rectangle& r, int64_t row, int64_t down, int64_t across, int64_t height,
                   int64_t width) const;
  // Tasks of the pool: rows of the rectangle to be gathered, and a block of output channels.
  static void gather(void* stage, size_t row);
  static void multiply(void* stage, size_t block);
  void add(int64_t first, int64_t channels);

  const XnnNode* node_ = nullptr;
  pthreadpool_t pool_ = nullptr;
  optimized::WindowShape shape_;
  int64_t out_channels_ = 0;
  OwnFilters panels_;         // By block and tap.
  int64_t panel_floats_ = 0;  // Of a whole block and one tap.
  const float* bias_ = nullptr;
  const float* image_ = nullptr;
  float* result_ = nullptr;
  float* gathered_ = nullptr;
  float* products_ = nullptr;
  // The tap that is being computed, its rectangle, and its pixels.
  int64_t tap_ = 0;
  Rectangle rectangle_ = {};
  const float* pixels_ = nullptr;
  bool is_first_ = false, is_last_ = false;
};

}  // namespace taper::xnnpack
