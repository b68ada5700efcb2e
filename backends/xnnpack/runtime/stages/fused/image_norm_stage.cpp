// Measures chunks of images and scales them on the threads of a pool; see image_norm_stage.h.

#include "backends/xnnpack/runtime/stages/fused/image_norm_stage.h"

#include <pthreadpool.h>

#include <algorithm>
#include <cmath>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "kernels_optimized/cores/fused.h"
#include "kernels_optimized/cores/moments.h"

namespace taper::xnnpack {
namespace {

// A stage costs about a microsecond; a pass over fewer elements takes less.
constexpr uint64_t kLeastElements = 8192;
// A chunk has so many elements, which stay in the cache, but no fewer pixels. Neither depends on
// the number of threads, so that the results do not.
constexpr size_t kChunkElements = 16384, kLeastPixels = 16;

}  // namespace

bool ImageNormStage::is_better(const XnnNode& node, Span<const XnnValue> values) {
  return node.is_needed && node.content_type == wire::NodeContent::ImageGroupNorm &&
         input(node, values).data == nullptr &&
         element_count(values[node.output].shape) >= kLeastElements;
}

ImageNormStage::ImageNormStage(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool)
    : node_(node), pool_(pool), groups_(node.as<wire::GroupNorm>().groups()) {
  if (node.inputs[1] != kNone) weight_ = floats_of(input(node, values, 1));
  if (node.inputs[2] != kNone) bias_ = floats_of(input(node, values, 2));
}

Status ImageNormStage::reshape(Span<const XnnValue> values) {
  const Shape& shape = input(node_, values).shape;
  images_ = shape.dims[0];
  channels_ = shape.last();
  pixels_ = 1;
  for (uint32_t d = 1; d + 1 < shape.rank; ++d) pixels_ *= shape.dims[d];
  chunk_pixels_ = std::max(kLeastPixels, kChunkElements / channels_);
  chunks_ = (pixels_ + chunk_pixels_ - 1) / chunk_pixels_;
  return {};
}

uint64_t ImageNormStage::scratch_bytes() const {
  return uint64_t{2} * sizeof(float) * images_ * channels_ * (chunks_ + 1);
}

Status ImageNormStage::bind(Span<void* const> places, void* scratch) {
  in_ = static_cast<const float*>(places[node_.inputs[0]]);
  out_ = static_cast<float*>(places[node_.output]);
  factors_ = static_cast<float*>(scratch);
  moments_ = factors_ + 2 * images_ * channels_;
  return {};
}

size_t ImageNormStage::pixels_of(size_t chunk) const {
  return std::min(chunk_pixels_, pixels_ - chunk * chunk_pixels_);
}

float* ImageNormStage::moments_of(size_t image, size_t chunk) const {
  return moments_ + 2 * channels_ * (image * chunks_ + chunk);
}

float* ImageNormStage::factors_of(size_t image) const { return factors_ + 2 * channels_ * image; }

void ImageNormStage::measure(void* stage, size_t image, size_t chunk) {
  const auto& self = *static_cast<ImageNormStage*>(stage);
  const size_t first = (image * self.pixels_ + chunk * self.chunk_pixels_) * self.channels_;
  float* const means = self.moments_of(image, chunk);
  optimized::channel_moments(self.in_ + first, static_cast<int64_t>(self.pixels_of(chunk)),
                             static_cast<int64_t>(self.channels_), means, means + self.channels_);
}

void ImageNormStage::combine(size_t image, size_t group) const {
  const size_t size = channels_ / groups_, begin = group * size, end = begin + size;
  double sum = 0, squares = 0;
  for (size_t k = 0; k < chunks_; ++k) {
    const float* const means = moments_of(image, k);
    double part = 0;
    for (size_t c = begin; c < end; ++c) part += static_cast<double>(means[c]);
    sum += part * static_cast<double>(pixels_of(k));
  }
  const double count = static_cast<double>(pixels_) * static_cast<double>(size);
  const double mean = sum / count;
  for (size_t k = 0; k < chunks_; ++k) {
    const float *const means = moments_of(image, k), *const inside = means + channels_;
    double between = 0;
    for (size_t c = begin; c < end; ++c) {
      const double difference = static_cast<double>(means[c]) - mean;
      between += difference * difference;
      squares += static_cast<double>(inside[c]);
    }
    squares += between * static_cast<double>(pixels_of(k));
  }
  const double deviation = std::sqrt(squares / count + static_cast<double>(node_.number));
  float* const factors = factors_of(image);
  for (size_t c = begin; c < end; ++c) {
    const double factor = (weight_ != nullptr ? static_cast<double>(weight_[c]) : 1) / deviation;
    const double offset = (bias_ != nullptr ? static_cast<double>(bias_[c]) : 0) - mean * factor;
    factors[c] = static_cast<float>(factor);
    factors[channels_ + c] = static_cast<float>(offset);
  }
}

void ImageNormStage::scale(void* stage, size_t image, size_t chunk) {
  const auto& self = *static_cast<ImageNormStage*>(stage);
  const size_t first = (image * self.pixels_ + chunk * self.chunk_pixels_) * self.channels_;
  const float* const factors = self.factors_of(image);
  optimized::scale_rows(self.in_ + first, static_cast<int64_t>(self.pixels_of(chunk)),
                        static_cast<int64_t>(self.channels_), factors, factors + self.channels_,
                        self.node_.min, self.node_.max, self.out_ + first);
}

Status ImageNormStage::run() {
  pthreadpool_parallelize_2d(pool_, measure, this, images_, chunks_, 0);
  for (size_t i = 0; i < images_ * groups_; ++i) combine(i / groups_, i % groups_);
  pthreadpool_parallelize_2d(pool_, scale, this, images_, chunks_, 0);
  return {};
}

}  // namespace taper::xnnpack
