// Divides a depthwise convolution of int8 among threads; see byte_depthwise_stage.h.

#include "backends/xnnpack/runtime/stages/bytes/byte_depthwise_stage.h"

#include <pthreadpool.h>

#include <algorithm>
#include <memory>

#include "backends/xnnpack/depthwise_windows.h"
#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"
#include "backends/xnnpack/runtime/stages/bytes/byte_layer.h"
#include "backends/xnnpack/runtime/stages/make_array.h"

namespace taper::xnnpack {
namespace {

using optimized::ByteFilter;
using optimized::WindowShape;

// The bytes of the rows of an image that a task reads, again for each block of channels.
constexpr int64_t kTaskBytes = int64_t{32} << 10;

// A factor at or above this, XNNPACK refuses.
constexpr float kMostFactor = 256;

// The factors of all channels; null without memory.
std::unique_ptr<float[]> factors_of(const XnnNode& node, Span<const XnnValue> values) {
  const auto channels = static_cast<size_t>(input(node, values).shape.last());
  auto factors = make_array<float>(channels);
  for (size_t c = 0; factors != nullptr && c < channels; ++c) {
    factors[c] = factor_of(node, values, static_cast<int64_t>(c));
  }
  return factors;
}

ByteFilter byte_filter(const XnnNode& node, Span<const XnnValue> values, const float* factors) {
  return {filter_of(node, values), bias_of(node, values), factors, input(node, values).zero_point};
}

}  // namespace

bool ByteDepthwiseStage::is_better(const XnnNode& node, Span<const XnnValue> values) {
  if (!is_depthwise(node)) return false;
  if (node.as<wire::Convolution>().group_output_channels() != 1) return false;
  if (!is_in_bytes(node, values)) return false;
  const WindowShape shape = window_shape(node, values);
  const auto taps = static_cast<uint64_t>(shape.window_height * shape.window_width);
  if (!optimized::has_byte_depthwise(shape)) return false;
  if (!optimized::is_byte_depthwise_faster(shape)) return false;
  if (taps == 0) return false;
  if (element_count(values[node.output].shape) < kLeastStageProducts / taps) return false;
  const XnnValue& result = values[node.output];
  if (!(quantized_bound(node.min, result) <= quantized_bound(node.max, result))) return false;
  const auto factors = factors_of(node, values);
  if (factors == nullptr) return false;
  const bool are_usable = std::all_of(factors.get(), factors.get() + shape.channels,
                                      [](float factor) { return factor < kMostFactor; });
  return are_usable && optimized::has_exact_sums(shape, byte_filter(node, values, factors.get()));
}

uint64_t ByteDepthwiseStage::extra_bytes(const XnnNode& node, Span<const XnnValue> values) {
  return static_cast<uint64_t>(optimized::byte_depthwise_size(window_shape(node, values)));
}

Status ByteDepthwiseStage::build(const XnnNode& node, Span<const XnnValue> values,
                                 pthreadpool_t pool) {
  node_ = &node;
  pool_ = pool;
  const XnnValue& result = values[node.output];
  data_.zero_in = static_cast<int8_t>(input(node, values).zero_point);
  data_.zero_out = static_cast<int8_t>(result.zero_point);
  data_.min = quantized_bound(node.min, result);
  data_.max = quantized_bound(node.max, result);
  const WindowShape shape = window_shape(node, values);
  const auto factors = factors_of(node, values);
  TAPER_REQUIRE(factors != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the filters of a convolution");
  constexpr int64_t kSize = sizeof(float);
  TAPER_TRY(make_filters((optimized::byte_depthwise_size(shape) + kSize - 1) / kSize, filter_));
  optimized::pack_byte_depthwise(shape, byte_filter(node, values, factors.get()), filter_.get());
  data_.filter = filter_.get();
  return {};
}

Status ByteDepthwiseStage::reshape(Span<const XnnValue> values) {
  shape_ = window_shape(*node_, values);
  const int64_t row_bytes = std::max<int64_t>(1, shape_.step_down * shape_.width * shape_.channels);
  rows_per_task_ = static_cast<size_t>(std::max<int64_t>(1, kTaskBytes / row_bytes));
  return {};
}

Status ByteDepthwiseStage::bind(Span<void* const> places, void*) {
  data_.image = static_cast<const int8_t*>(places[node_->inputs[0]]);
  data_.out = static_cast<int8_t*>(places[node_->output]);
  return {};
}

void ByteDepthwiseStage::run_rows(void* stage, size_t row, size_t rows) {
  const auto& self = *static_cast<ByteDepthwiseStage*>(stage);
  optimized::byte_depthwise(self.shape_, self.data_, static_cast<int64_t>(row),
                            static_cast<int64_t>(rows));
}

Status ByteDepthwiseStage::run() {
  const auto rows = static_cast<size_t>(shape_.images * shape_.out_height);
  pthreadpool_parallelize_1d_tile_1d(pool_, run_rows, this, rows, rows_per_task_, 0);
  return {};
}

}  // namespace taper::xnnpack
