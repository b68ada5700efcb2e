// Divides a depthwise convolution of int8 among threads; see byte_depthwise_stage.h.

#include "backends/xnnpack/runtime/stages/arm/byte_depthwise_stage.h"

#include <pthreadpool.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "backends/xnnpack/depthwise_windows.h"
#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"
#include "backends/xnnpack/runtime/stages/make_array.h"

namespace taper::xnnpack {
namespace {

using optimized::ByteFilter;
using optimized::WindowShape;
using wire::DataType;

// The bytes of the rows of an image that a task reads, again for each block of channels.
constexpr int64_t kTaskBytes = int64_t{32} << 10;

// A scale at or above this, XNNPACK refuses.
constexpr float kMostScale = 256;

bool has_bytes(const XnnNode& node, Span<const XnnValue> values) {
  const XnnValue &image = input(node, values), &filter = input(node, values, 1);
  if (image.type != DataType::QINT8 || values[node.output].type != DataType::QINT8) return false;
  const bool has_channels = filter.type == DataType::QCINT8;
  if (!has_channels && (filter.type != DataType::QINT8 || filter.zero_point != 0)) return false;
  if (image.data != nullptr || filter.data == nullptr) return false;
  if (node.inputs[2] == kNone) return true;
  return input(node, values, 2).type == (has_channels ? DataType::QCINT32 : DataType::QINT32);
}

// What a filter is packed from: the scale of each channel, computed as XNNPACK does.
bool find_filter(const XnnNode& node, Span<const XnnValue> values, int64_t channels, float* scales,
                 ByteFilter& filter) {
  const XnnValue &image = input(node, values), &weights = input(node, values, 1);
  for (int64_t c = 0; c < channels; ++c) {
    const float scale = weights.scales != nullptr ? weights.scales[c] : weights.scale;
    scales[c] = image.scale * scale / values[node.output].scale;
    if (!std::isnormal(scale) || !(scales[c] < kMostScale)) return false;
  }
  if (!std::isnormal(image.scale) || !std::isnormal(values[node.output].scale)) return false;
  filter.weights = reinterpret_cast<const int8_t*>(weights.data);
  if (node.inputs[2] != kNone) {
    filter.bias =
        static_cast<const int32_t*>(static_cast<const void*>(input(node, values, 2).data));
  }
  filter.scales = scales;
  filter.zero_in = image.zero_point;
  return true;
}

Status no_memory() {
  return Status(Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the filters of a convolution");
}

// The filter, packed; nothing if the stage cannot compute it.
Status pack(const XnnNode& node, Span<const XnnValue> values, OwnFilters& packed) {
  const WindowShape shape = window_shape(node, values);
  const auto scales = make_array<float>(static_cast<size_t>(shape.channels));
  if (scales == nullptr) return no_memory();
  ByteFilter filter;
  if (!find_filter(node, values, shape.channels, scales.get(), filter)) return {};
  OwnFilters made;
  const auto size = static_cast<int64_t>(sizeof(float));
  TAPER_TRY(make_filters((optimized::byte_depthwise_size(shape) + size - 1) / size, made));
  if (optimized::pack_byte_depthwise(shape, filter, made.get())) packed = std::move(made);
  return {};
}

// A bound of the results as XNNPACK quantises it.
int8_t quantized(float bound, const XnnValue& value) {
  const float number = bound / value.scale + static_cast<float>(value.zero_point);
  return static_cast<int8_t>(std::lrintf(std::fminf(std::fmaxf(number, -128), 127)));
}

}  // namespace

bool ByteDepthwiseStage::is_better(const XnnNode& node, Span<const XnnValue> values) {
  if (node.kind != find_kind(wire::NodeContent::DepthwiseConv2d)) return false;
  if (node.as<wire::Convolution>().group_output_channels() != 1) return false;
  if (!has_bytes(node, values)) return false;
  const WindowShape shape = window_shape(node, values);
  const auto taps = static_cast<uint64_t>(shape.window_height * shape.window_width);
  if (!optimized::has_byte_depthwise(shape)) return false;
  if (element_count(values[node.output].shape) < kLeastStageProducts / taps) return false;
  const XnnValue& result = values[node.output];
  if (!(quantized(node.min, result) <= quantized(node.max, result))) return false;
  OwnFilters packed;
  return pack(node, values, packed).ok() && packed != nullptr;
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
  data_.min = quantized(node.min, result);
  data_.max = quantized(node.max, result);
  TAPER_TRY(pack(node, values, filter_));
  if (filter_ == nullptr) return no_memory();  // is_better() has packed it.
  data_.filter = filter_.get();
  return {};
}

Status ByteDepthwiseStage::reshape(Span<const XnnValue> values) {
  shape_ = window_shape(*node_, values);
  const int64_t row_bytes = shape_.step_down * shape_.width * shape_.channels;
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
