// Splits them; see wide_weights.h.

#include "backends/xnnpack/aot/bytes/wide_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "backends/xnnpack/payload_format.h"
#include "exir/ir/scales.h"

namespace taper::xnnpack {
namespace {

using exir::Scales;
using wire::NodeContent;

struct Matrix {
  size_t rows, places, columns;  // Output channels, pixels of the window, input channels.
  std::vector<int32_t> numbers;  // Less the zero points.
  std::vector<float> scales;     // One for each row.
};

size_t item_of(const Scales& scales, size_t i) { return i / scales.span % scales.items.size(); }

int32_t integer_at(const Scales& scales, size_t i) {
  const uint8_t byte = scales.integers.data[i];
  return scales.dtype == ScalarType::kChar ? static_cast<int8_t>(byte) : byte;
}

bool has_whole_points(const Scales& scales) {
  return !scales.zero_points.empty() && scales.table.empty() &&
         std::all_of(scales.zero_points.begin(), scales.zero_points.end(), [](float point) {
           return point == std::nearbyint(point) && std::abs(point) <= 255;
         });
}

// Whether the integers are in the order of the elements, which other rules may have exchanged.
bool are_in_order(NodeList& list, Id id, const Scales& scales) {
  if (!list.has_data(id)) return true;
  const exir::TensorData elements = exir::elements_of(scales);
  const exir::TensorData& data = list.data(id);
  return elements.bytes == data.bytes && std::memcmp(elements.data, data.data, data.bytes) == 0;
}

std::optional<Matrix> matrix_of(const Scales& scales, const Dims& dims) {
  Matrix matrix = {
      static_cast<size_t>(dims[0].as_int()), 1, static_cast<size_t>(dims.back().as_int()), {}, {}};
  for (size_t d = 1; d + 1 < dims.size(); ++d) {
    matrix.places *= static_cast<size_t>(dims[d].as_int());
  }
  const size_t row = matrix.places * matrix.columns;
  if (row == 0 || matrix.rows * row != scales.integers.bytes) return std::nullopt;
  for (size_t i = 0; i < scales.integers.bytes; ++i) {
    const size_t item = item_of(scales, i);
    if (i % row == 0) matrix.scales.push_back(scales.items[item]);
    if (matrix.scales.back() != scales.items[item]) return std::nullopt;
    const auto point = static_cast<int32_t>(scales.zero_points[item]);
    matrix.numbers.push_back(integer_at(scales, i) - point);
  }
  return matrix;
}

// What is left of the numbers when they are clamped to int8, and the columns that have some.
struct Part {
  WideWeights::Range range;
  std::vector<int32_t> numbers;
};

std::vector<Part> parts_of(const Matrix& matrix) {
  std::vector<Part> parts;
  std::vector<int32_t> rest = matrix.numbers;
  const auto columns = static_cast<int64_t>(matrix.columns);
  WideWeights::Range range = {0, columns};
  while (range.count > 0) {
    Part part = {range, rest};
    int64_t first = columns, last = -1;
    for (size_t i = 0; i < rest.size(); ++i) {
      part.numbers[i] = std::clamp(rest[i], -128, 127);
      rest[i] -= part.numbers[i];
      if (rest[i] == 0) continue;
      first = std::min(first, static_cast<int64_t>(i % matrix.columns));
      last = std::max(last, static_cast<int64_t>(i % matrix.columns));
    }
    parts.push_back(std::move(part));
    range = {first, last - first + 1};
  }
  return parts;
}

exir::TensorData joined(const Matrix& matrix, const std::vector<Part>& parts) {
  std::vector<uint8_t> bytes;
  for (size_t row = 0; row < matrix.rows * matrix.places; ++row) {
    for (const Part& part : parts) {
      const int32_t* from = &part.numbers[row * matrix.columns];
      for (int64_t i = 0; i < part.range.count; ++i) {
        bytes.push_back(static_cast<uint8_t>(from[part.range.first + i]));
      }
    }
  }
  return exir::own_bytes(std::move(bytes));
}

bool are_open(const exir::Sym& size) { return !size.is_int(); }

// Groups take reshapes, which infer one size.
bool takes_more_channels(const NodeSpec& node, const Dims& input) {
  if (node.kind == NodeContent::FullyConnected) return node.flags == 0;
  const bool is_dense =
      node.kind == NodeContent::Conv2d || node.kind == NodeContent::ConvTranspose2d;
  return is_dense &&
         (node.window.groups == 1 || std::count_if(input.begin(), input.end(), are_open) <= 1);
}

}  // namespace

std::optional<WideWeights> split_wide_weights(NodeList& list, const NodeSpec& node) {
  if (!takes_more_channels(node, list.values[node.inputs[0]].dims)) return std::nullopt;
  const Id id = node.inputs[1];
  const std::shared_ptr<const Scales> integers = list.values[id].integers;
  if (list.values[id].constant == 0 || integers == nullptr || !has_whole_points(*integers) ||
      !are_in_order(list, id, *integers)) {
    return std::nullopt;
  }
  Dims dims = list.values[id].dims;
  const std::optional<Matrix> matrix = matrix_of(*integers, dims);
  if (!matrix) return std::nullopt;
  const std::vector<Part> parts = parts_of(*matrix);
  WideWeights made;
  for (size_t i = 1; i < parts.size(); ++i) made.repeated.push_back(parts[i].range);
  dims.back() = dims.back() + made.more_channels();
  auto scales = std::make_shared<Scales>();
  scales->items = matrix->scales;
  scales->integers = joined(*matrix, parts);
  scales->span = scales->integers.bytes / matrix->rows;
  exir::TensorData floats;  // Only the count: nobody reads them.
  floats.bytes = scales->integers.bytes * sizeof(float);
  made.weights = list.add_constant(std::move(dims), std::move(floats));
  list.values[made.weights].made_from = std::move(scales);
  return made;
}

Id AddedNodes::repeated(const NodeSpec& layer, Id id, const WideWeights& weights) {
  if (weights.repeated.empty()) return id;
  const int64_t groups = layer.window.groups;
  Dims dims = list_.values[id].dims, all = dims;
  all.back() = all.back() + groups * weights.more_channels();
  if (groups > 1) {
    dims.back() = dims.back().as_int() / groups;
    dims.insert(dims.end() - 1, groups);
    id = reshaped(layer, id, dims);
  }
  NodeSpec join;
  join.kind = concatenation_of(1 + weights.repeated.size());
  join.inputs = {id};
  for (const WideWeights::Range& range : weights.repeated) {
    join.inputs.push_back(channels(layer, id, range));
  }
  join.list = {static_cast<uint32_t>(dims.size() - 1)};
  dims.back() = dims.back() + weights.more_channels();
  id = before(layer, std::move(join), std::move(dims), list_.values[id].quantization);
  return groups > 1 ? reshaped(layer, id, std::move(all)) : id;
}

Id AddedNodes::reshaped(const NodeSpec& layer, Id id, Dims dims) {
  NodeSpec reshape;
  reshape.kind = NodeContent::Reshape;
  reshape.inputs = {id};
  for (const exir::Sym& size : dims) {
    reshape.list.push_back(size.is_int() ? static_cast<uint32_t>(size.as_int()) : 0);
  }
  return before(layer, std::move(reshape), std::move(dims), list_.values[id].quantization);
}

Id AddedNodes::channels(const NodeSpec& layer, Id id, const WideWeights::Range& range) {
  Dims dims = list_.values[id].dims;
  if (dims.back() == exir::Sym(range.count)) return id;
  dims.back() = range.count;
  NodeSpec slice;
  slice.kind = NodeContent::Slice;
  slice.inputs = {id};
  slice.list.resize(dims.size());
  slice.list.back() = static_cast<uint32_t>(range.first);
  for (const exir::Sym& size : dims) {
    slice.list2.push_back(size.is_int() ? static_cast<uint32_t>(size.as_int()) : 0);  // 0: all.
  }
  return before(layer, std::move(slice), std::move(dims), list_.values[id].quantization);
}

Id AddedNodes::before(const NodeSpec& layer, NodeSpec node, Dims dims, Quantization how) {
  ValueSpec made;
  made.dims = std::move(dims);
  made.quantization = std::move(how);
  list_.values.push_back(std::move(made));
  node.origin = layer.origin;
  node.output = static_cast<Id>(list_.values.size()) - 1;
  added_.push_back({static_cast<size_t>(&layer - list_.nodes.data()), std::move(node)});
  return added_.back().node.output;
}

void AddedNodes::insert() {
  if (added_.empty()) return;
  std::vector<NodeSpec> all;
  auto next = added_.begin();
  for (size_t i = 0; i < list_.nodes.size(); ++i) {
    for (; next != added_.end() && next->before == i; ++next) all.push_back(std::move(next->node));
    all.push_back(std::move(list_.nodes[i]));
  }
  list_.nodes = std::move(all);
  added_.clear();
}

bool may_be_split(const exir::Value& weights, size_t channel_dim) {
  return weights.scales != nullptr && has_whole_points(*weights.scales) &&
         exir::is_along(*weights.scales, weights.type, channel_dim);
}

}  // namespace taper::xnnpack
