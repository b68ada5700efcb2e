// A stage for a group norm of images whose channels lie side by side: one pass that measures each
// channel of a chunk of pixels, which stays in the cache, and one that scales all pixels. XNNPACK
// would compute it by a dozen nodes, each of them through memory.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"

namespace taper::xnnpack {

class ImageNormStage final : public Stage {
 public:
  // Whether the node can be computed in this way, and is large enough to pay for a stage.
  static bool is_better(const XnnNode& node, Span<const XnnValue> values);

  // The node and its constants must live as long as this.
  ImageNormStage(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // Tasks of the pool: a chunk of an image.
  static void measure(void* stage, size_t image, size_t chunk);
  static void scale(void* stage, size_t image, size_t chunk);

  size_t pixels_of(size_t chunk) const;
  float* moments_of(size_t image, size_t chunk) const;
  // Where the factors of an image's channels are stored, and after them their offsets.
  float* factors_of(size_t image) const;
  // Computes these of a group from the moments of all chunks.
  void combine(size_t image, size_t group) const;

  const XnnNode& node_;
  const pthreadpool_t pool_;
  const size_t groups_;
  const float *weight_ = nullptr, *bias_ = nullptr;
  // The number of images, of their pixels and channels, of chunks and of the pixels of a chunk.
  size_t images_ = 0, pixels_ = 0, channels_ = 0, chunks_ = 0, chunk_pixels_ = 0;
  const float* in_ = nullptr;
  float* out_ = nullptr;
  float *moments_ = nullptr, *factors_ = nullptr;
};

}  // namespace taper::xnnpack
