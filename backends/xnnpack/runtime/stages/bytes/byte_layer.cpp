// Checks types and computes factors; see byte_layer.h.

#include "backends/xnnpack/runtime/stages/bytes/byte_layer.h"

#include <cmath>

namespace taper::xnnpack {

using wire::DataType;

bool is_in_bytes(const XnnNode& node, Span<const XnnValue> values) {
  const XnnValue &image = input(node, values), &filter = input(node, values, 1);
  if (image.type != DataType::QINT8 || values[node.output].type != DataType::QINT8) return false;
  const bool has_channels = filter.type == DataType::QCINT8;
  if (!has_channels && (filter.type != DataType::QINT8 || filter.zero_point != 0)) return false;
  if (image.data != nullptr || filter.data == nullptr) return false;
  if (node.inputs[2] == kNone) return true;
  return input(node, values, 2).type == (has_channels ? DataType::QCINT32 : DataType::QINT32);
}

float factor_of(const XnnNode& node, Span<const XnnValue> values, int64_t channel) {
  const XnnValue& filter = input(node, values, 1);
  const float scale = filter.scale_count > 0 ? filter.scales[channel] : filter.scale;
  return input(node, values).scale * scale / values[node.output].scale;
}

const int8_t* filter_of(const XnnNode& node, Span<const XnnValue> values) {
  return reinterpret_cast<const int8_t*>(input(node, values, 1).data);
}

const int32_t* bias_of(const XnnNode& node, Span<const XnnValue> values) {
  if (node.inputs[2] == kNone) return nullptr;
  return static_cast<const int32_t*>(static_cast<const void*>(input(node, values, 2).data));
}

int8_t quantized_bound(float bound, const XnnValue& result) {
  const float steps = bound / result.scale + static_cast<float>(result.zero_point);
  return static_cast<int8_t>(std::lrint(std::fmin(std::fmax(steps, -128.0f), 127.0f)));
}

}  // namespace taper::xnnpack
