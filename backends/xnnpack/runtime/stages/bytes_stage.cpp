// Looks up bytes and powers, and adds bytes to sums of 32 bits; see bytes_stage.h.

#include "backends/xnnpack/runtime/stages/bytes_stage.h"

#include <pthreadpool.h>

#include <algorithm>
#include <cmath>
#include <new>

#if defined(TAPER_OPTIMIZED)
#include "kernels_optimized/cores/byte_table.h"
#endif

namespace taper::xnnpack {
namespace {

// How many channels, or columns of a softmax, are computed at a time.
constexpr size_t kBlock = 128;
// How many bytes of a table's results a task has.
constexpr size_t kTaskBytes = 32768;

ByteScale scale_of(const XnnValue& value) { return {value.scale, value.zero_point}; }

}  // namespace

int8_t ByteScale::byte_of(float number) const {
  const auto zero = static_cast<float>(zero_point);
  const float steps = std::min(std::max(number / scale, -128 - zero), 127 - zero);
  return static_cast<int8_t>(static_cast<int32_t>(std::nearbyint(steps)) + zero_point);
}

// ---- tables ----

Status TableStage::reshape(Span<const XnnValue> values) {
  count_ = static_cast<size_t>(element_count(values[output_].shape));
  return {};
}

Status TableStage::bind(Span<void* const> places, void*) {
  from_ = static_cast<const uint8_t*>(places[input_]);
  to_ = static_cast<uint8_t*>(places[output_]);
  return {};
}

void TableStage::run_part(void* stage, size_t first, size_t count) {
  const auto& self = *static_cast<TableStage*>(stage);
  const uint8_t* from = self.from_ + first;
  uint8_t* to = self.to_ + first;
#if defined(TAPER_OPTIMIZED)
  optimized::look_up_bytes(self.table_, from, count, to);
#else
  for (size_t i = 0; i < count; ++i) to[i] = self.table_[from[i] ^ 0x80];
#endif
}

Status TableStage::run() {
  pthreadpool_parallelize_1d_tile_1d(pool_, run_part, this, count_, kTaskBytes, 0);
  return {};
}

// ---- means of windows ----

BytePoolStage::BytePoolStage(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool)
    : node_(node),
      from_(scale_of(values[node.inputs[0]])),
      to_(scale_of(values[node.output])),
      pool_(pool) {}

Status BytePoolStage::reshape(Span<const XnnValue> values) {
  const Shape &x = values[node_.inputs[0]].shape, &y = values[node_.output].shape;
  images_ = x.dims[0];
  height_ = x.dims[1];
  width_ = x.dims[2];
  channels_ = x.dims[3];
  rows_ = y.dims[1];
  columns_ = y.dims[2];
  return {};
}

Status BytePoolStage::bind(Span<void* const> places, void*) {
  in_ = static_cast<const int8_t*>(places[node_.inputs[0]]);
  out_ = static_cast<int8_t*>(places[node_.output]);
  return {};
}

// The window may begin before the image, and end behind it.
void BytePoolStage::run_pixel(const int8_t* image, int64_t top, int64_t left, int8_t* to) const {
  const auto& window = node_.as<wire::Pooling>();
  const int64_t bottom = std::min<int64_t>(top + window.pooling_height(), height_);
  const int64_t right = std::min<int64_t>(left + window.pooling_width(), width_);
  top = std::max<int64_t>(top, 0);
  left = std::max<int64_t>(left, 0);
  const int64_t count = std::max<int64_t>(bottom - top, 0) * std::max<int64_t>(right - left, 0);
  const auto zeros = static_cast<float>(count * from_.zero_point);
  const float step = from_.scale / static_cast<float>(std::max<int64_t>(count, 1));
  for (int64_t first = 0; first < channels_; first += kBlock) {
    const int64_t channels = std::min<int64_t>(kBlock, channels_ - first);
    int32_t sums[kBlock] = {};
    for (int64_t row = top; row < bottom; ++row) {
      for (int64_t column = left; column < right; ++column) {
        const int8_t* pixel = image + (row * width_ + column) * channels_ + first;
        for (int64_t c = 0; c < channels; ++c) sums[c] += pixel[c];
      }
    }
    for (int64_t c = 0; c < channels; ++c) {
      const float mean = (static_cast<float>(sums[c]) - zeros) * step;
      to[first + c] = to_.byte_of(std::min(std::max(mean, node_.min), node_.max));
    }
  }
}

void BytePoolStage::run_rows(void* stage, size_t first, size_t count) {
  const auto& self = *static_cast<BytePoolStage*>(stage);
  const auto& window = self.node_.as<wire::Pooling>();
  for (auto row = static_cast<int64_t>(first); row < static_cast<int64_t>(first + count); ++row) {
    const int8_t* image = self.in_ + row / self.rows_ * self.height_ * self.width_ * self.channels_;
    int8_t* to = self.out_ + row * self.columns_ * self.channels_;
    const int64_t top = row % self.rows_ * window.stride_height() - window.padding_top();
    for (int64_t column = 0; column < self.columns_; ++column, to += self.channels_) {
      const int64_t left = column * window.stride_width() - window.padding_left();
      self.run_pixel(image, top, left, to);
    }
  }
}

Status BytePoolStage::run() {
  pthreadpool_parallelize_1d_tile_1d(pool_, run_rows, this, static_cast<size_t>(images_ * rows_), 1,
                                     0);
  return {};
}

// ---- softmax ----

ByteSoftmaxStage::ByteSoftmaxStage(const XnnNode& node, Span<const XnnValue> values,
                                   pthreadpool_t pool)
    : node_(node), to_(scale_of(values[node.output])), pool_(pool) {
  const float step = values[node.inputs[0]].scale;
  for (int i = 0; i < 256; ++i) powers_[i] = std::exp(-static_cast<float>(i) * step);
}

Status ByteSoftmaxStage::reshape(Span<const XnnValue> values) {
  const Shape& shape = values[node_.output].shape;
  const uint32_t dim = node_.as<wire::DimSoftmax>().dim();
  outer_ = inner_ = 1;
  for (uint32_t d = 0; d < dim; ++d) outer_ *= shape.dims[d];
  for (uint32_t d = dim + 1; d < shape.rank; ++d) inner_ *= shape.dims[d];
  length_ = shape.dims[dim];
  return {};
}

Status ByteSoftmaxStage::bind(Span<void* const> places, void*) {
  in_ = static_cast<const int8_t*>(places[node_.inputs[0]]);
  out_ = static_cast<int8_t*>(places[node_.output]);
  return {};
}

// At most kBlock softmaxes side by side, whose elements are inner_ bytes apart.
void ByteSoftmaxStage::run_part(const int8_t* from, int8_t* to, size_t columns) const {
  int8_t largest[kBlock];
  double sums[kBlock] = {};
  std::fill_n(largest, columns, int8_t{-128});
  for (size_t i = 0; i < length_; ++i) {
    for (size_t c = 0; c < columns; ++c) {
      largest[c] = std::max(largest[c], from[i * inner_ + c]);
    }
  }
  const auto power = [&](size_t i, size_t c) {
    return powers_[static_cast<uint8_t>(largest[c] - from[i * inner_ + c])];
  };
  for (size_t i = 0; i < length_; ++i) {
    for (size_t c = 0; c < columns; ++c) sums[c] += static_cast<double>(power(i, c));
  }
  for (size_t i = 0; i < length_; ++i) {
    for (size_t c = 0; c < columns; ++c) {
      to[i * inner_ + c] = to_.byte_of(power(i, c) / static_cast<float>(sums[c]));
    }
  }
}

void ByteSoftmaxStage::run_parts(void* stage, size_t first, size_t count) {
  const auto& self = *static_cast<ByteSoftmaxStage*>(stage);
  for (size_t part = first; part < first + count; ++part) {
    const size_t at = part * self.length_ * self.inner_;
    for (size_t c = 0; c < self.inner_; c += kBlock) {
      self.run_part(self.in_ + at + c, self.out_ + at + c, std::min(kBlock, self.inner_ - c));
    }
  }
}

Status ByteSoftmaxStage::run() {
  pthreadpool_parallelize_1d_tile_1d(pool_, run_parts, this, outer_, 1, 0);
  return {};
}

std::unique_ptr<Stage> make_bytes_stage(const XnnNode& node, Span<const XnnValue> values,
                                        pthreadpool_t pool) {
  std::unique_ptr<Stage> made;
  if (node.content_type == wire::NodeContent::ByteTable) {
    made.reset(new (std::nothrow) TableStage(node, values, pool));
  } else if (node.content_type == wire::NodeContent::BytePool) {
    made.reset(new (std::nothrow) BytePoolStage(node, values, pool));
  } else {
    made.reset(new (std::nothrow) ByteSoftmaxStage(node, values, pool));
  }
  return made;
}

}  // namespace taper::xnnpack
