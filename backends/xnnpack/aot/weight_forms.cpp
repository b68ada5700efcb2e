// Chooses the smallest form; see weight_forms.h.

#include "backends/xnnpack/aot/weight_forms.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "exir/ir/scales.h"

namespace taper::xnnpack {
namespace {

using exir::Scales;
using wire::DataType;
using wire::NodeContent;

constexpr int64_t kLeastGroup = 32;  // XNNPACK requires multiples of it.

// Scales of groups are rounded to 16 bits, which may not make them infinite.
bool is_usable(float scale) { return std::isnormal(scale) && scale > 0 && scale < 1e38f; }

// The dimension of a filter that holds its output channels.
uint32_t channel_dim(const NodeSpec& node) {
  return node.kind == NodeContent::DepthwiseConv2d ? 3 : 0;
}

}  // namespace

std::optional<WeightForm> form_of(const Scales& scales, const Dims& dims, bool by_rows) {
  if (!exir::is_symmetric(scales) || dims.size() != 2) return std::nullopt;
  if (!std::all_of(scales.items.begin(), scales.items.end(), is_usable)) return std::nullopt;
  const int64_t columns = dims[1].as_int();
  const int64_t group = exir::group_of(scales, exir::TensorType(ScalarType::kFloat, dims));
  if (group == 0) return std::nullopt;
  const bool has_half_bytes = scales.bits <= 4 && columns % 2 == 0;
  if (group == columns) return has_half_bytes ? WeightForm::kHalfBytes : WeightForm::kBytes;
  const bool has_groups = has_half_bytes && by_rows && group % kLeastGroup == 0;
  return has_groups ? std::optional(WeightForm::kHalfByteGroups) : std::nullopt;
}

Id add_weights(NodeList& list, const Scales& scales, const Dims& dims, WeightForm form) {
  const int64_t rows = dims[0].as_int(), columns = dims[1].as_int();
  const int64_t bits = form == WeightForm::kBytes ? 8 : 4;
  const Id made = list.add_constant(
      dims, exir::packed_rows(scales, rows, columns, bits, exir::NibbleOrder::kLowFirst));
  Quantization& how = list.values[made].quantization;
  how.type = form == WeightForm::kBytes       ? DataType::QCINT8
             : form == WeightForm::kHalfBytes ? DataType::QCINT4
                                              : DataType::QBINT4;
  how.scales = scales.items;
  if (scales.items.size() == 1) how.scales.resize(static_cast<size_t>(rows), scales.items[0]);
  if (form == WeightForm::kHalfByteGroups) how.group = static_cast<int32_t>(scales.span);
  return made;
}

bool ByteWeights::take_packed(NodeSpec& node, bool by_rows) {
  if (node.kind != NodeContent::FullyConnected) return false;
  const ValueSpec& weights = value(node.inputs[1]);
  if (weights.made_from == nullptr) return false;
  const std::optional<WeightForm> form = form_of(*weights.made_from, weights.dims, by_rows);
  if (!form) return false;
  const std::shared_ptr<const exir::Scales> scales = weights.made_from;
  node.inputs[1] = add_weights(list_, *scales, Dims(weights.dims), *form);
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNone;
  if (has_bias && !by_rows) node.inputs[2] = divided(node.inputs[2], scales->items);
  return true;
}

bool ByteWeights::take_filter(NodeSpec& node) {
  const bool is_dense =
      node.kind == NodeContent::Conv2d || node.kind == NodeContent::ConvTranspose2d;
  if (!is_dense) return false;
  const std::shared_ptr<const exir::Scales> made = value(node.inputs[1]).made_from;
  if (made == nullptr || !exir::is_symmetric(*made)) return false;
  const auto is_usable = [](float each) { return std::isnormal(each) && each > 0; };
  if (!std::all_of(made->items.begin(), made->items.end(), is_usable)) return false;
  exir::Scales by_channel = *made;
  const auto channels = static_cast<size_t>(value(node.inputs[1]).dims[0].as_int());
  if (made->items.size() == 1) by_channel.items.resize(channels, made->items[0]);
  if (by_channel.items.size() != channels) return false;
  const std::optional<Id> filter = in_bytes(node.inputs[1], by_channel, 0);
  if (!filter) return false;
  value(*filter).quantization.type = DataType::QCINT8;
  value(*filter).quantization.scales = by_channel.items;
  node.inputs[1] = *filter;
  return true;
}

// The bias of a layer of floats whose weights are integers: XNNPACK adds it to the sums before it
// multiplies them by the scales.
Id ByteWeights::divided(Id bias, const std::vector<float>& scales) {
  const exir::TensorData data = list_.data(bias);
  std::vector<uint8_t> bytes(data.bytes);
  for (size_t i = 0; i < data.bytes / sizeof(float); ++i) {
    float number;
    std::memcpy(&number, data.data + i * sizeof(float), sizeof(float));
    number /= scales[scales.size() == 1 ? 0 : i];
    std::memcpy(&bytes[i * sizeof(float)], &number, sizeof(float));
  }
  return list_.add_constant(Dims(value(bias).dims), exir::own_bytes(std::move(bytes)));
}

bool ByteWeights::take_weights(const NodeSpec& node, std::vector<Id>& inputs, double out) {
  const std::shared_ptr<const exir::Scales> made = value(node.inputs[1]).made_from;
  if (made == nullptr || !exir::is_symmetric(*made)) return false;
  std::vector<float> steps;
  for (const float each : made->items) {
    const double step = scale(inputs[0]) * each;
    if (!(std::isnormal(each) && each > 0) || !(step / out >= 0x1p-32 && step / out < 256)) {
      return false;
    }
    steps.push_back(static_cast<float>(step));
  }
  const auto channels = static_cast<size_t>(value(node.inputs[1]).dims[channel_dim(node)].as_int());
  if (made->items.size() != 1 && made->items.size() != channels) return false;
  const bool has_bias = inputs.size() > 2 && inputs[2] != kNone;
  const std::optional<Id> bias =
      has_bias ? in_steps<int32_t>(inputs[2], steps, 0, DataType::QINT32, DataType::QCINT32)
               : std::optional<Id>(kNone);
  if (!bias || (has_bias && !keeps_bias(inputs[2], steps, out))) return false;
  const std::optional<Id> weights = in_bytes(node.inputs[1], *made, channel_dim(node));
  if (!weights) return false;
  inputs[1] = *weights;
  if (has_bias) inputs[2] = *bias;
  return true;
}

// Whether a bias that is rounded to steps of the sums stays within half a step of the result.
bool ByteWeights::keeps_bias(Id bias, const std::vector<float>& steps, double out) {
  const exir::TensorData data = list_.data(bias);
  for (size_t i = 0; i < data.bytes / sizeof(float); ++i) {
    const double step = steps[i % steps.size()];
    const double number = reinterpret_cast<const float*>(data.data)[i];
    if (std::abs(std::nearbyint(number / step) * step - number) > out / 2) return false;
  }
  return true;
}

// The weights as bytes: those from which they were made, or computed again if another layout was
// made of them. A constant without data has the layout of its integers.
std::optional<Id> ByteWeights::in_bytes(Id id, const exir::Scales& made, uint32_t dim) {
  if (list_.has_data(id)) {
    return in_steps<int8_t>(id, made.items, dim, DataType::QINT8, DataType::QCINT8);
  }
  const Dims dims = value(id).dims;
  if (!exir::is_along(made, exir::TensorType(ScalarType::kFloat, dims), dim)) return std::nullopt;
  return with_steps(dims, made.integers, made.items, dim, DataType::QINT8, DataType::QCINT8);
}

// Converts a constant of floats to integer multiples of steps: one step for all, or one for each
// index along `dim`. nullopt if a value is not representable.
template <typename T>
std::optional<Id> ByteWeights::in_steps(Id id, const std::vector<float>& steps, uint32_t dim,
                                        DataType one, DataType several) {
  const Dims dims = value(id).dims;
  size_t inner = 1;
  for (size_t d = dim + 1; d < dims.size(); ++d) inner *= static_cast<size_t>(dims[d].as_int());
  const exir::TensorData data = list_.data(id);
  const auto* floats = reinterpret_cast<const float*>(data.data);
  std::vector<uint8_t> bytes(data.bytes / sizeof(float) * sizeof(T));
  for (size_t i = 0; i < data.bytes / sizeof(float); ++i) {
    const double step = steps[i / inner % steps.size()];
    const double number = std::nearbyint(floats[i] / step);
    if (!(number >= std::numeric_limits<T>::min() && number <= std::numeric_limits<T>::max())) {
      return std::nullopt;
    }
    // Weights that another pass has changed are no longer multiples of the steps.
    const bool is_made = std::is_same_v<T, int32_t> ||
                         std::abs(number * step - floats[i]) <= 1e-6 * std::abs(floats[i]);
    if (!is_made) return std::nullopt;
    const auto whole = static_cast<T>(number);
    std::copy_n(reinterpret_cast<const uint8_t*>(&whole), sizeof(T), &bytes[i * sizeof(T)]);
  }
  return with_steps(dims, exir::own_bytes(std::move(bytes)), steps, dim, one, several);
}

Id ByteWeights::with_steps(const Dims& dims, exir::TensorData integers,
                           const std::vector<float>& steps, uint32_t dim, DataType one,
                           DataType several) {
  const Id made = list_.add_constant(dims, std::move(integers));
  Quantization& how = value(made).quantization;
  how.type = steps.size() == 1 ? one : several;
  how.scale = steps[0];
  how.dim = dim;
  if (steps.size() > 1) how.scales = steps;
  return made;
}

}  // namespace taper::xnnpack
