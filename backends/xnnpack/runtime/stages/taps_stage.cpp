// Adds the products of one tap after another to the results, which begin as the bias; see
// taps_stage.h.

#include "backends/xnnpack/runtime/stages/taps_stage.h"

#include <pthreadpool.h>

#include <algorithm>
#include <cstring>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"

namespace taper::xnnpack {
namespace {

using optimized::WindowShape;

// The output channels of a task.
constexpr int64_t kBlock = 64;
// The number of products with the weights of a tap that take as long as reading them.
constexpr int64_t kReadCost = 16;
// The number of multiplications that take about as long as a stage costs.
constexpr int64_t kLeastProducts = int64_t{1} << 18;

int64_t taps_of(const WindowShape& s) { return s.window_height * s.window_width; }
int64_t results_of(const WindowShape& s) { return s.images * s.out_height * s.out_width; }

// The results [first, last) along a side whose tap, `offset` away, lies inside the image.
void inside(int64_t offset, int64_t in, int64_t out, int64_t& first, int64_t& last) {
  first = std::clamp(-offset, int64_t{0}, out);
  last = std::clamp(in - offset, first, out);
}

}  // namespace

TapsStage::Rectangle TapsStage::rectangle_of(const WindowShape& s, int64_t tap) {
  Rectangle r = {};
  r.down = tap / s.window_width * s.dilation_down - s.padding_top;
  r.across = tap % s.window_width * s.dilation_across - s.padding_left;
  inside(r.down, s.height, s.out_height, r.top, r.bottom);
  inside(r.across, s.width, s.out_width, r.left, r.right);
  return r;
}

int64_t TapsStage::cost_of(const WindowShape& s, bool has_rectangles) {
  int64_t cost = 0;
  for (int64_t tap = 0; tap < taps_of(s); ++tap) {
    const Rectangle r = rectangle_of(s, tap);
    const int64_t pixels = has_rectangles ? s.images * r.rows() * r.width() : results_of(s);
    cost += pixels > 0 ? pixels + kReadCost : 0;
  }
  return cost;
}

bool TapsStage::is_better(const XnnNode& node, Span<const XnnValue> values) {
  if (node.kind != find_kind(wire::NodeContent::Conv2d) || !is_in_floats(node, values))
    return false;
  const auto& t = node.as<wire::Convolution>();
  if (t.groups() != 1 || t.stride_height() != 1 || t.stride_width() != 1) return false;
  if (input(node, values).data != nullptr || !optimized::has_vectors()) return false;
  if (t.group_input_channels() < 8 || t.group_output_channels() < 8) return false;
  const WindowShape s = window_shape(node, values);
  const int64_t cost = cost_of(s, true);
  const int64_t channels = s.channels * static_cast<int64_t>(t.group_output_channels());
  return channels > 0 && cost * 2 <= cost_of(s, false) && cost >= kLeastProducts / channels;
}

uint64_t TapsStage::extra_bytes(const XnnNode& node, Span<const XnnValue> values) {
  const WindowShape s = window_shape(node, values);
  const auto out = static_cast<int64_t>(values[node.output].shape.dims[3]);
  const int64_t weights = taps_of(s) * s.channels * (out + kBlock);
  return static_cast<uint64_t>(weights + results_of(s) * (s.channels + out)) * sizeof(float);
}

Status TapsStage::build(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool) {
  node_ = &node;
  pool_ = pool;
  shape_ = window_shape(node, values);
  out_channels_ = values[node.output].shape.dims[3];
  if (node.inputs[2] != kNone) bias_ = floats_of(input(node, values, 2));
  const int64_t taps = taps_of(shape_), blocks = (out_channels_ + kBlock - 1) / kBlock;
  panel_floats_ = optimized::panel_floats(shape_.channels, kBlock);
  TAPER_TRY(make_filters(panel_floats_ * taps * blocks, panels_));
  const float* filter = floats_of(input(node, values, 1));
  const int64_t step = taps * shape_.channels;  // From one output channel to the next.
  for (int64_t i = 0; i < blocks * taps; ++i) {
    const int64_t first = i / taps * kBlock, count = std::min(kBlock, out_channels_ - first);
    const float* from = filter + first * step + i % taps * shape_.channels;
    optimized::pack_panels({from, 1, step}, shape_.channels, count,
                           panels_.get() + i * panel_floats_);
  }
  return {};
}

Status TapsStage::reshape(Span<const XnnValue> values) {
  shape_ = window_shape(*node_, values);
  return {};
}

uint64_t TapsStage::scratch_bytes() const {
  const int64_t floats = results_of(shape_) * (shape_.channels + out_channels_);
  return static_cast<uint64_t>(floats) * sizeof(float);
}

Status TapsStage::bind(Span<void* const> places, void* scratch) {
  image_ = static_cast<const float*>(places[node_->inputs[0]]);
  result_ = static_cast<float*>(places[node_->output]);
  gathered_ = static_cast<float*>(scratch);
  products_ = gathered_ + results_of(shape_) * shape_.channels;
  return {};
}

bool TapsStage::is_contiguous(const Rectangle& r) const {
  const bool has_rows = r.width() == shape_.width;
  return has_rows && (shape_.images == 1 || r.rows() == shape_.height);
}

int64_t TapsStage::place_of(const Rectangle& r, int64_t row, int64_t down, int64_t across,
                            int64_t height, int64_t width) const {
  const int64_t image = row / r.rows(), y = r.top + row % r.rows() + down;
  return (image * height + y) * width + r.left + across;
}

void TapsStage::gather(void* stage, size_t row) {
  const auto& self = *static_cast<TapsStage*>(stage);
  const WindowShape& s = self.shape_;
  const Rectangle& r = self.rectangle_;
  const auto at = static_cast<int64_t>(row);
  const int64_t place = self.place_of(r, at, r.down, r.across, s.height, s.width);
  const int64_t count = r.width() * s.channels;
  std::memcpy(self.gathered_ + at * count, self.image_ + place * s.channels,
              static_cast<size_t>(count) * sizeof(float));
}

// Adds the products of some channels to the results of the rectangle.
void TapsStage::add(int64_t first, int64_t channels) {
  const Rectangle& r = rectangle_;
  const float* from = products_ + first;
  for (int64_t row = 0; row < shape_.images * r.rows(); ++row) {
    float* to = result_ + first +
                place_of(r, row, 0, 0, shape_.out_height, shape_.out_width) * out_channels_;
    for (int64_t x = 0; x < r.width(); ++x, to += out_channels_, from += out_channels_) {
      for (int64_t c = 0; c < channels; ++c) to[c] += from[c];
    }
  }
}

void TapsStage::multiply(void* stage, size_t block) {
  auto& self = *static_cast<TapsStage*>(stage);
  const Rectangle& r = self.rectangle_;
  const int64_t out = self.out_channels_, first = static_cast<int64_t>(block) * kBlock;
  const int64_t channels = std::min(kBlock, out - first), results = results_of(self.shape_);
  float* const result = self.result_ + first;
  for (int64_t i = 0; self.is_first_ && i < results; ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      result[i * out + c] = self.bias_ != nullptr ? self.bias_[first + c] : 0;
    }
  }
  optimized::Gemm product;
  product.rows = self.shape_.images * r.rows() * r.width();
  product.columns = channels;
  product.depth = self.shape_.channels;
  product.left = {self.pixels_, product.depth, 1};
  const int64_t panel = static_cast<int64_t>(block) * taps_of(self.shape_) + self.tap_;
  product.panels = {self.panels_.get() + panel * self.panel_floats_, product.depth, channels};
  product.out = self.products_ + first;
  product.out_stride = out;
  if (product.rows > 0) {
    optimized::gemm(product, {});
    self.add(first, channels);
  }
  const float min = self.node_->min, max = self.node_->max;
  for (int64_t i = 0; self.is_last_ && i < results; ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      float& value = result[i * out + c];
      value = value < min ? min : value > max ? max : value;  // NaN stays NaN.
    }
  }
}

Status TapsStage::run() {
  const auto blocks = static_cast<size_t>((out_channels_ + kBlock - 1) / kBlock);
  const int64_t taps = taps_of(shape_);
  for (tap_ = 0; tap_ < taps; ++tap_) {
    rectangle_ = rectangle_of(shape_, tap_);
    is_first_ = tap_ == 0;
    is_last_ = tap_ == taps - 1;
    const Rectangle& r = rectangle_;
    const bool is_empty = r.rows() == 0 || r.width() == 0;
    if (is_empty && !is_first_ && !is_last_) continue;
    if (is_empty || is_contiguous(r)) {
      const int64_t place = is_empty ? 0 : (r.top + r.down) * shape_.width;
      pixels_ = image_ + place * shape_.channels;
    } else {
      pixels_ = gathered_;
      pthreadpool_parallelize_1d(pool_, gather, this, static_cast<size_t>(shape_.images * r.rows()),
                                 0);
    }
    pthreadpool_parallelize_1d(pool_, multiply, this, blocks, 0);
  }
  return {};
}

}  // namespace taper::xnnpack
