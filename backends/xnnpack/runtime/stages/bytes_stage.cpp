// Looks up bytes and powers, and adds bytes to sums of 32 bits; see bytes_stage.h.

#include "backends/xnnpack/runtime/stages/bytes_stage.h"

#include <pthreadpool.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <numeric>

#if defined(TAPER_OPTIMIZED)
#include "kernels_optimized/cores/byte_table.h"
#endif

namespace taper::xnnpack {
namespace {

// How many bytes are computed at a time: loops of this length become vectors.
constexpr size_t kLanes = 16;
// How many powers a softmax looks up before it computes with them.
constexpr size_t kBlock = 256;
// A number between -2^22 and 2^22 plus this one has no fraction, rounded to even.
constexpr float kRounder = 12582912.0f;
// How many bytes of a table's results a task has.
constexpr size_t kTaskBytes = 32768;

ByteScale scale_of(const XnnValue& value) { return {value.scale, value.zero_point}; }

// Stores the bytes of the first `count` of kLanes numbers of steps, of which none is NaN.
void store_bytes(const float* steps, int32_t zero_point, size_t count, int8_t* to) {
  const float least = static_cast<float>(-128 - zero_point);
  const float most = static_cast<float>(127 - zero_point);
  int8_t bytes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) {
    const float inside = std::min(std::max(steps[i], least), most);
    const float whole = inside + kRounder - kRounder;
    bytes[i] = static_cast<int8_t>(static_cast<int32_t>(whole) + zero_point);
  }
  std::memcpy(to, bytes, count);
}

int8_t largest_of(const int8_t* bytes, size_t count) {
  int8_t found[kLanes];
  std::fill_n(found, kLanes, int8_t{-128});
  size_t first = 0;
  for (; first + kLanes <= count; first += kLanes) {
    for (size_t i = 0; i < kLanes; ++i) found[i] = std::max(found[i], bytes[first + i]);
  }
  for (; first < count; ++first) found[0] = std::max(found[0], bytes[first]);
  return *std::max_element(found, found + kLanes);
}

// Adds the first `count` of kLanes bytes to sums.
void add_bytes(const int8_t* bytes, size_t count, int32_t* sums) {
  if (count == kLanes) {
    for (size_t i = 0; i < kLanes; ++i) sums[i] += bytes[i];
  } else {
    for (size_t i = 0; i < count; ++i) sums[i] += bytes[i];
  }
}

}  // namespace

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
  for (int64_t first = 0; first < channels_; first += kLanes) {
    const auto channels = static_cast<size_t>(std::min<int64_t>(kLanes, channels_ - first));
    int32_t sums[kLanes] = {};
    for (int64_t row = top; row < bottom; ++row) {
      const int8_t* pixel = image + (row * width_ + left) * channels_ + first;
      for (int64_t column = left; column < right; ++column, pixel += channels_) {
        add_bytes(pixel, channels, sums);
      }
    }
    float steps[kLanes];
    for (size_t c = 0; c < kLanes; ++c) {
      const float mean = (static_cast<float>(sums[c]) - zeros) * step;
      steps[c] = std::min(std::max(mean, node_.min), node_.max) / to_.scale;
    }
    store_bytes(steps, to_.zero_point, channels, to + first);
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

// Elements that follow each other.
void ByteSoftmaxStage::run_row(const int8_t* from, int8_t* to) const {
  const int8_t largest = largest_of(from, length_);
  float powers[kBlock];
  const auto read = [&](size_t first) {
    const size_t count = std::min(kBlock, length_ - first);
    for (size_t i = 0; i < count; ++i) {
      powers[i] = powers_[static_cast<uint8_t>(largest - from[first + i])];
    }
    for (size_t i = count; i % kLanes != 0; ++i) powers[i] = 0;
    return count;
  };
  double sums[kLanes] = {};
  for (size_t first = 0; first < length_; first += kBlock) {
    const size_t count = read(first);
    for (size_t at = 0; at < count; at += kLanes) {
      for (size_t i = 0; i < kLanes; ++i) sums[i] += static_cast<double>(powers[at + i]);
    }
  }
  const double sum = std::accumulate(sums, sums + kLanes, 0.0);
  const auto steps_of_one = static_cast<float>(1 / (sum * static_cast<double>(to_.scale)));
  for (size_t first = 0; first < length_; first += kBlock) {
    const size_t count = read(first);
    for (size_t at = 0; at < count; at += kLanes) {
      for (size_t i = 0; i < kLanes; ++i) powers[at + i] *= steps_of_one;
      store_bytes(powers + at, to_.zero_point, std::min(kLanes, count - at), to + first + at);
    }
  }
}

// At most kLanes softmaxes side by side, whose elements are inner_ bytes apart.
void ByteSoftmaxStage::run_columns(const int8_t* from, int8_t* to, size_t columns) const {
  constexpr size_t kRows = kBlock / kLanes;
  int8_t largest[kLanes];
  std::fill_n(largest, kLanes, int8_t{-128});
  for (size_t i = 0; i < length_; ++i) {
    for (size_t c = 0; c < columns; ++c) {
      largest[c] = std::max(largest[c], from[i * inner_ + c]);
    }
  }
  float powers[kRows][kLanes] = {};
  const auto read = [&](size_t first) {
    const size_t count = std::min(kRows, length_ - first);
    for (size_t i = 0; i < count; ++i) {
      const int8_t* row = from + (first + i) * inner_;
      for (size_t c = 0; c < columns; ++c) {
        powers[i][c] = powers_[static_cast<uint8_t>(largest[c] - row[c])];
      }
    }
    return count;
  };
  double sums[kLanes] = {};
  for (size_t first = 0; first < length_; first += kRows) {
    const size_t count = read(first);
    for (size_t i = 0; i < count; ++i) {
      for (size_t c = 0; c < kLanes; ++c) sums[c] += static_cast<double>(powers[i][c]);
    }
  }
  float steps_of_one[kLanes] = {};
  for (size_t c = 0; c < columns; ++c) {
    steps_of_one[c] = static_cast<float>(1 / (sums[c] * static_cast<double>(to_.scale)));
  }
  for (size_t first = 0; first < length_; first += kRows) {
    const size_t count = read(first);
    for (size_t i = 0; i < count; ++i) {
      for (size_t c = 0; c < kLanes; ++c) powers[i][c] *= steps_of_one[c];
      store_bytes(powers[i], to_.zero_point, columns, to + (first + i) * inner_);
    }
  }
}

void ByteSoftmaxStage::run_parts(void* stage, size_t first, size_t count) {
  const auto& self = *static_cast<ByteSoftmaxStage*>(stage);
  for (size_t part = first; part < first + count; ++part) {
    const size_t at = part * self.length_ * self.inner_;
    if (self.inner_ == 1) {
      self.run_row(self.in_ + at, self.out_ + at);
      continue;
    }
    for (size_t c = 0; c < self.inner_; c += kLanes) {
      self.run_columns(self.in_ + at + c, self.out_ + at + c, std::min(kLanes, self.inner_ - c));
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
