// Each function below recognises one kind of node; see integer_constants.h.

#include "exir/passes/simplify/integer_constants.h"

#include <algorithm>
#include <cmath>

#include "exir/ir/scales.h"
#include "exir/ops/facts.h"
#include "exir/passes/simplify/integer_formats.h"
#include "kernels_portable/engine/convert.h"

namespace taper::exir {
namespace {

using Made = std::shared_ptr<Scales>;

bool is_plain(const Value* value) {
  return value->kind == ValueKind::kTensor && value->type.is_contiguous() &&
         value->type.is_static();
}

// The input as integers of scale 1; null if it is not a constant of bytes.
Made bytes_of(const Value* value) {
  const ScalarType dtype = value->type.dtype;
  if (!is_plain(value) || value->data.data == nullptr ||
      (dtype != ScalarType::kChar && dtype != ScalarType::kByte)) {
    return nullptr;
  }
  auto made = std::make_shared<Scales>();
  made->items = {1};
  made->span = std::max<size_t>(1, value->data.bytes);
  made->integers = value->data;
  made->dtype = dtype;
  made->bits = bits_of(value->data, dtype);
  return made;
}

// Zero points that are all 0 are left out. False if they are no numbers.
bool set_zero_points(Scales& scales, std::vector<float> points) {
  const auto is_finite = [](float point) { return std::isfinite(point); };
  if (!std::all_of(points.begin(), points.end(), is_finite)) return false;
  const bool any =
      std::any_of(points.begin(), points.end(), [](float point) { return point != 0; });
  scales.zero_points = any ? std::move(points) : std::vector<float>();
  return true;
}

// Scales of 16 bits would round the product to 16 bits.
bool is_wide(const Value* scales) {
  return scales->type.dtype == ScalarType::kFloat || scales->type.dtype == ScalarType::kDouble;
}

Made dequantised_by_one(const Node& node) {
  const Argument &scale = node.arg("scale"), &zero_point = node.arg("zero_point");
  if (scale.is_value() || zero_point.is_value()) return nullptr;
  Made made = bytes_of(node.arg("input").value());
  if (made == nullptr) return nullptr;
  made->items = {static_cast<float>(scale.to_double())};
  return set_zero_points(*made, {static_cast<float>(zero_point.to_int())}) ? made : nullptr;
}

// Runs of `span` elements share a scale.
Made dequantised_by_runs(const Node& node, size_t span, size_t count) {
  const Value* scales = node.arg("scales").value();
  const Argument& zero_points = node.arg("zero_points");
  Made made = bytes_of(node.arg("input").value());
  if (made == nullptr || span == 0 || count == 0 || !is_plain(scales) || !is_wide(scales)) {
    return nullptr;
  }
  made->span = span;
  made->items = floats_of(*scales);
  if (made->items.size() != count) return nullptr;
  if (zero_points.is_none()) return made;
  std::vector<float> points = floats_of(*zero_points.value());
  if (!is_plain(zero_points.value()) || points.size() != count) return nullptr;
  return set_zero_points(*made, std::move(points)) ? made : nullptr;
}

Made dequantised_by_channel(const Node& node) {
  const TensorType& type = node.arg("input").value()->type;
  const auto rank = static_cast<int64_t>(type.rank());
  int64_t axis = node.arg("axis").to_int();
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return nullptr;
  size_t span = 1;
  for (auto d = static_cast<size_t>(axis) + 1; d < type.rank(); ++d) {
    span *= static_cast<size_t>(type.sizes[d].as_int());
  }
  const auto count = static_cast<size_t>(type.sizes[static_cast<size_t>(axis)].as_int());
  return dequantised_by_runs(node, span, count);
}

Made dequantised_by_group(const Node& node) {
  const TensorType& type = node.arg("input").value()->type;
  const int64_t given = node.arg("group_size").to_int();
  if (type.rank() != 2 || given < 1) return nullptr;
  const int64_t columns = type.sizes[1].as_int();
  const TensorType& scales = node.arg("scales").value()->type;
  const bool whole_row = given > columns && scales.rank() > 0 && scales.sizes.back() == Sym(1);
  const int64_t group = whole_row ? columns : given;
  if (group == 0 || columns % group != 0) return nullptr;
  const auto rows = static_cast<size_t>(type.sizes[0].as_int());
  return dequantised_by_runs(node, static_cast<size_t>(group),
                             rows * static_cast<size_t>(columns / group));
}

// A copy of the constant's scales; null if it is not stored as integers.
Made stored(const Argument& arg) {
  if (!arg.is_value() || arg.value()->scales == nullptr) return nullptr;
  return std::make_shared<Scales>(*arg.value()->scales);
}

bool is_unscaled(const Scales& scales) { return scales.items.size() == 1 && scales.items[0] == 1; }

// How elements of a tensor that is broadcast to `type` repeat: in runs of `span`, `count` of them.
// False if there are several ranges of dimensions along which they differ.
bool find_runs(const TensorType& type, const TensorType& small, size_t& span, size_t& count) {
  if (small.rank() > type.rank()) return false;
  const size_t skipped = type.rank() - small.rank();
  span = count = 1;
  bool has_ended = false;
  for (size_t d = type.rank(); d-- > 0;) {
    const auto size = static_cast<size_t>(type.sizes[d].as_int());
    const bool repeats = d < skipped || small.sizes[d - skipped] == Sym(1);
    if (!repeats && !(small.sizes[d - skipped] == type.sizes[d])) return false;
    if (size == 1) continue;
    if (repeats && count == 1) {
      span *= size;
    } else if (repeats) {
      has_ended = true;
    } else if (has_ended) {
      return false;
    } else {
      count *= size;
    }
  }
  return true;
}

// Combines integers that have no scales yet with those of another constant.
bool spread(Scales& scales, const Value* constant, const TensorType& type,
            std::vector<float>& numbers) {
  if (!is_plain(constant) || constant->type.dtype != type.dtype) return false;
  size_t count = 0;
  if (!find_runs(type, constant->type, scales.span, count)) return false;
  numbers = floats_of(*constant);
  return numbers.size() == count && scales.span != 0 && (count == 1 || scales.span > 1);
}

Made with_zero_points(const Node& node) {
  if (node.arg("alpha").to_double() != 1) return nullptr;
  Made made = stored(node.arg(0));
  std::vector<float> points;
  if (made == nullptr || !is_unscaled(*made) || !made->zero_points.empty() ||
      !node.arg(1).is_value() ||
      !spread(*made, node.arg(1).value(), node.outputs[0]->type, points)) {
    return nullptr;
  }
  // Differences of other numbers would be rounded.
  const bool is_wide = node.outputs[0]->type.dtype == ScalarType::kFloat;
  const bool are_bytes = std::all_of(points.begin(), points.end(), [](float point) {
    return point == std::nearbyint(point) && std::abs(point) <= 128;
  });
  if (!is_wide && !are_bytes) return nullptr;
  made->items.assign(points.size(), 1);
  return set_zero_points(*made, std::move(points)) ? made : nullptr;
}

Made with_scales(const Node& node) {
  for (const size_t i : {0, 1}) {
    if (!node.arg(i).is_value() || !node.arg(1 - i).is_value()) return nullptr;
    Made made = stored(node.arg(i));
    const auto is_one = [](float item) { return item == 1; };
    if (made == nullptr || !std::all_of(made->items.begin(), made->items.end(), is_one)) continue;
    const size_t span = made->span;
    std::vector<float> items;
    if (!spread(*made, node.arg(1 - i).value(), node.outputs[0]->type, items)) continue;
    const bool fits = made->zero_points.empty() ||
                      (made->zero_points.size() == items.size() && made->span == span);
    if (!fits) continue;
    made->items = std::move(items);
    return made;
  }
  return nullptr;
}

// Constants one behind the other, each of them in runs with scales of their own, or with one scale.
Made concatenated(const Node& node) {
  const TensorType& type = node.outputs[0]->type;
  const Argument::List& parts = node.arg("tensors").list();
  const int64_t dim = node.arg("dim").to_int();
  if (dim != 0 || parts.empty() || !is_plain(node.outputs[0]) || type.rank() == 0) return nullptr;
  std::vector<Made> all;
  size_t span = 0;
  for (const Argument& part : parts) {
    all.push_back(stored(part));
    const Scales* each = all.back().get();
    if (each == nullptr || each->integers.bytes == 0 || each->dtype != all[0]->dtype ||
        part.value()->type.rank() != type.rank()) {
      return nullptr;
    }
    if (each->items.size() > 1) span = each->span;
  }
  // With one scale for each part, a run is an element of the first dimension.
  if (span == 0) {
    span = all[0]->integers.bytes / static_cast<size_t>(parts[0].value()->type.sizes[0].as_int());
  }
  auto made = std::make_shared<Scales>();
  made->span = span;
  made->dtype = all[0]->dtype;
  std::vector<uint8_t> bytes;
  std::vector<float> points;
  for (const Made& each : all) {
    const size_t size = each->integers.bytes, runs = size / span;
    if (runs * span != size || (each->items.size() != 1 && each->items.size() != runs) ||
        (each->items.size() > 1 && each->span != span)) {
      return nullptr;
    }
    for (size_t run = 0; run < runs; ++run) {
      const size_t item = each->items.size() == 1 ? 0 : run;
      made->items.push_back(each->items[item]);
      points.push_back(each->zero_points.empty() ? 0 : each->zero_points[item]);
    }
    bytes.insert(bytes.end(), each->integers.data, each->integers.data + size);
  }
  made->integers = own_bytes(std::move(bytes));
  made->bits = bits_of(made->integers, made->dtype);
  return set_zero_points(*made, std::move(points)) ? made : nullptr;
}

bool is_cast(const Node& node) {
  return node.is("aten::_to_copy") || node.is("dim_order_ops::_to_dim_order_copy");
}

// A number of the second operand is a constant of one element by now.
std::shared_ptr<const Scales> made_by(const Node& node) {
  if (node.is("quantized_decomposed::dequantize_per_tensor")) return dequantised_by_one(node);
  if (node.is("quantized_decomposed::dequantize_per_channel")) return dequantised_by_channel(node);
  if (node.is("quantized_decomposed::dequantize_per_channel_group")) {
    return dequantised_by_group(node);
  }
  if (has_integer_format(node)) return integers_of_format(node);
  if (is_cast(node)) return bytes_of(node.arg(0).value());
  if (node.is("aten::sub.Tensor")) return with_zero_points(node);
  if (node.is("aten::cat")) return concatenated(node);
  if (node.is("aten::mul.Tensor")) return with_scales(node);
  return facts_of(node.target()).is(kReshapes) ? stored(node.arg(0)) : nullptr;
}

// The steps of a dequantisation that is spelled out. Elements of 16 bits are rounded once, by the
// multiplication, since integers and their differences fit; whole nodes may round otherwise.
bool spells_steps(const Node& node) {
  return is_cast(node) || node.is("aten::sub.Tensor") || node.is("aten::mul.Tensor") ||
         facts_of(node.target()).is(kReshapes);
}

}  // namespace

std::shared_ptr<const Scales> integers_of(const Node& node) {
  if (node.outputs.size() != 1) return nullptr;
  const Value* output = node.outputs[0];
  if (!is_plain(output)) return nullptr;
  if (output->type.rank() < 2) return nullptr;  // No weights, and small.
  const ScalarType dtype = output->type.dtype;
  const bool is_half = dtype == ScalarType::kHalf || dtype == ScalarType::kBFloat16;
  if (dtype != ScalarType::kFloat && !(is_half && spells_steps(node))) return nullptr;
  const auto made = made_by(node);
  const bool fits = made != nullptr && made->integers.bytes != 0 &&
                    Sym(static_cast<int64_t>(made->integers.bytes)) == output->type.numel();
  return fits ? made : nullptr;
}

std::vector<float> floats_of(const Value& constant) {
  const TensorData data = elements_of(constant);
  const ScalarType dtype = constant.type.dtype;
  if (!is_floating(dtype) && !is_integral(dtype)) return {};
  std::vector<float> numbers(data.bytes / element_size(dtype));
  portable::loader<float>(dtype)(data.data, 1, static_cast<int64_t>(numbers.size()),
                                 numbers.data());
  return numbers;
}

}  // namespace taper::exir
