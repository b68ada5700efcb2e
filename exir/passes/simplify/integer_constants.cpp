// Each function below recognises one kind of node; see integer_constants.h.

#include "exir/passes/simplify/integer_constants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

#include "exir/ir/scales.h"
#include "exir/ops/facts.h"
#include "exir/passes/simplify/integer_formats.h"
#include "kernels_portable/engine/convert.h"

namespace taper::exir {
namespace {

using Made = std::shared_ptr<Scales>;

constexpr size_t kCodes = 256;   // The numbers that a byte stands for.
constexpr size_t kSmall = 1024;  // Bytes of floats that are not worth codes.

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

// Scales of 16 bits round the product to 16 bits, as a result of that dtype does.
bool scales_for(const Value* scales, ScalarType result) {
  const ScalarType dtype = scales->type.dtype;
  return dtype == ScalarType::kFloat || dtype == ScalarType::kDouble || dtype == result;
}

// Whether floats of 16 bits hold the differences of all integers from the zero points.
bool are_near(const std::vector<float>& points, ScalarType integers) {
  const float least = integers == ScalarType::kChar ? -128 : 0;
  return std::all_of(points.begin(), points.end(), [&](float point) {
    return point == std::nearbyint(point) && point >= least && point <= least + 255;
  });
}

bool has_16_bits(ScalarType dtype) {
  return dtype == ScalarType::kHalf || dtype == ScalarType::kBFloat16;
}

// The difference of an integer from its zero point.
float difference_at(const Scales& scales, size_t i) {
  const auto& points = scales.zero_points;
  const float point = points.empty() ? 0 : points[i / scales.span % points.size()];
  const uint8_t integer = scales.integers.data[i];
  return (scales.dtype == ScalarType::kChar ? static_cast<float>(static_cast<int8_t>(integer))
                                            : static_cast<float>(integer)) -
         point;
}

// PyTorch subtracts zero points of the integers' own dtype in 8 bits, which may wrap around. The
// differences then are the integers.
void wrap_around(Scales& scales) {
  const float least = scales.dtype == ScalarType::kChar ? -128 : 0, most = least + 255;
  std::vector<uint8_t> differences(scales.integers.bytes);
  bool wraps = false;
  for (size_t i = 0; i < differences.size(); ++i) {
    const float difference = difference_at(scales, i);
    wraps = wraps || difference < least || difference > most;
    differences[i] = static_cast<uint8_t>(static_cast<int32_t>(difference));
  }
  if (!wraps) return;
  scales.integers = own_bytes(std::move(differences));
  scales.bits = bits_of(scales.integers, scales.dtype);
  scales.zero_points.clear();
}

// Integers whose differences from the zero points are int8 of no more bits become those, such as
// uint8 with 128 in the middle: more kernels take them. Null for others.
std::shared_ptr<const Scales> as_differences(const Scales& scales) {
  if (is_symmetric(scales)) return nullptr;
  std::vector<uint8_t> differences(scales.integers.bytes);
  for (size_t i = 0; i < differences.size(); ++i) {
    const float difference = difference_at(scales, i);
    const bool fits = difference >= -128 && difference <= 127;
    if (!fits || difference != std::nearbyint(difference)) return nullptr;
    differences[i] = static_cast<uint8_t>(static_cast<int8_t>(difference));
  }
  TensorData integers = own_bytes(std::move(differences));
  const int64_t bits = bits_of(integers, ScalarType::kChar);
  if (bits > scales.bits) return nullptr;
  auto made = std::make_shared<Scales>(scales);
  made->integers = std::move(integers);
  made->bits = bits;
  made->dtype = ScalarType::kChar;
  made->zero_points.clear();
  return made;
}

// A number, or the only element of a constant.
std::optional<float> number_of(const Argument& arg) {
  if (!arg.is_value()) return static_cast<float>(arg.to_double());
  const Value* value = arg.value();
  if (!is_plain(value) || !(value->type.numel() == Sym(1))) return std::nullopt;
  const std::vector<float> numbers = floats_of(*value);
  return numbers.size() == 1 ? std::optional(numbers[0]) : std::nullopt;
}

Made dequantised_by_one(const Node& node) {
  const auto scale = number_of(node.arg("scale")), point = number_of(node.arg("zero_point"));
  Made made = bytes_of(node.arg("input").value());
  if (made == nullptr || !scale || !point) return nullptr;
  made->items = {*scale};
  if (has_16_bits(node.outputs[0]->type.dtype) && !are_near({*point}, made->dtype)) return nullptr;
  return set_zero_points(*made, {*point}) ? made : nullptr;
}

// Runs of `span` elements share a scale.
Made dequantised_by_runs(const Node& node, size_t span, size_t count) {
  const Value* scales = node.arg("scales").value();
  const Argument& zero_points = node.arg("zero_points");
  Made made = bytes_of(node.arg("input").value());
  if (made == nullptr || span == 0 || count == 0 || !is_plain(scales) ||
      !scales_for(scales, node.outputs[0]->type.dtype)) {
    return nullptr;
  }
  made->span = span;
  made->items = floats_of(*scales);
  if (made->items.size() != count) return nullptr;
  if (zero_points.is_none()) return made;
  std::vector<float> points = floats_of(*zero_points.value());
  if (!is_plain(zero_points.value()) || points.size() != count) return nullptr;
  const ScalarType dtype = zero_points.value()->type.dtype;
  if (has_16_bits(dtype) && !are_near(points, made->dtype)) return nullptr;
  if (!set_zero_points(*made, std::move(points))) return nullptr;
  if (dtype == made->dtype && !made->zero_points.empty()) wrap_around(*made);
  return made;
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

// How the elements of a tensor repeat that is broadcast to another: runs of `span` have one number
// each, that of the element `order[run]`, and begin anew after the last of `order`.
struct Runs {
  size_t span = 1;
  std::vector<size_t> order;
};

// Whether integers and so many numbers are smaller than floats.
bool pays(size_t numbers, size_t elements) { return numbers == 1 || 2 * numbers <= elements; }

size_t size_at(const TensorType& type, size_t dim) {
  return static_cast<size_t>(type.sizes[dim].as_int());
}

// No runs if `small` is not broadcast to `type`, or if there would be too many.
std::optional<Runs> runs_of(const TensorType& type, const TensorType& small) {
  const size_t rank = type.rank();
  if (small.rank() > rank) return std::nullopt;
  const size_t skipped = rank - small.rank();
  std::vector<size_t> strides(rank);  // Those of `small`; 0 where it repeats.
  size_t first = rank, end = 0, stride = 1, elements = 1;
  for (size_t d = rank; d-- > 0;) {
    elements *= size_at(type, d);
    if (d < skipped || small.sizes[d - skipped] == Sym(1)) continue;
    if (!(small.sizes[d - skipped] == type.sizes[d])) return std::nullopt;
    strides[d] = stride;
    stride *= size_at(type, d);
    end = std::max(end, d + 1);
    first = d;
  }
  Runs runs;
  for (size_t d = end; d < rank; ++d) runs.span *= size_at(type, d);
  runs.order = {0};
  for (size_t d = first; d < end; ++d) {
    const size_t size = size_at(type, d), count = runs.order.size();
    if (!pays(count * size, elements)) return std::nullopt;
    std::vector<size_t> order;
    for (const size_t outer : runs.order) {
      for (size_t i = 0; i < size; ++i) order.push_back(outer + i * strides[d]);
    }
    runs.order = std::move(order);
  }
  return runs;
}

// The numbers of a constant in runs, with which integers that have no scales yet are combined.
struct Numbers {
  size_t span = 1;
  std::vector<float> each;
};

std::optional<Numbers> numbers_of(const Value* constant, const TensorType& type) {
  if (!is_plain(constant) || constant->type.dtype != type.dtype) return std::nullopt;
  const std::optional<Runs> runs = runs_of(type, constant->type);
  if (!runs || runs->span == 0 || runs->order.empty()) return std::nullopt;
  const std::vector<float> all = floats_of(*constant);
  Numbers numbers{runs->span, {}};
  for (const size_t i : runs->order) {
    if (i >= all.size()) return std::nullopt;
    numbers.each.push_back(all[i]);
  }
  return numbers;
}

// Gives integers scales. Zero points that they have in other runs are repeated, as are the scales.
bool set_scales(Scales& made, const Numbers& scales) {
  const size_t elements = made.integers.bytes;
  const bool has_points = !made.zero_points.empty();
  const Numbers points = {has_points ? made.span : scales.span,
                          has_points ? made.zero_points : std::vector<float>(scales.each.size())};
  const size_t span = std::gcd(scales.span, points.span);
  const size_t round = std::lcm(scales.span * scales.each.size(), points.span * points.each.size());
  if (round == 0 || elements % round != 0 || !pays(round / span, elements)) return false;
  made.span = span;
  made.items.clear();
  made.zero_points.clear();
  for (size_t at = 0; at < round; at += span) {
    made.items.push_back(scales.each[at / scales.span % scales.each.size()]);
    if (has_points) made.zero_points.push_back(points.each[at / points.span % points.each.size()]);
  }
  return true;
}

Made with_zero_points(const Node& node) {
  if (node.arg("alpha").to_double() != 1) return nullptr;
  Made made = stored(node.arg(0));
  if (made == nullptr || !is_unscaled(*made) || !made->zero_points.empty() ||
      !node.arg(1).is_value()) {
    return nullptr;
  }
  std::optional<Numbers> points = numbers_of(node.arg(1).value(), node.outputs[0]->type);
  if (!points) return nullptr;
  if (has_16_bits(node.outputs[0]->type.dtype) && !are_near(points->each, made->dtype)) {
    return nullptr;
  }
  made->span = points->span;
  made->items.assign(points->each.size(), 1);
  return set_zero_points(*made, std::move(points->each)) ? made : nullptr;
}

Made with_scales(const Node& node) {
  for (const size_t i : {0, 1}) {
    if (!node.arg(i).is_value() || !node.arg(1 - i).is_value()) return nullptr;
    Made made = stored(node.arg(i));
    const auto is_one = [](float item) { return item == 1; };
    if (made == nullptr || !std::all_of(made->items.begin(), made->items.end(), is_one)) continue;
    const auto scales = numbers_of(node.arg(1 - i).value(), node.outputs[0]->type);
    if (scales && set_scales(*made, *scales)) return made;
  }
  return nullptr;
}

// The numbers that occur in a constant, by their bits, in the order in which they are found.
class Codebook {
 public:
  // The place of a number; nullopt if there are too many.
  std::optional<uint8_t> code_of(uint32_t bits) {
    size_t at = bits * 2654435769U >> (32 - kLogSlots);
    while (codes_[at] != 0 && numbers_[codes_[at] - 1U] != bits) at = (at + 1) % kSlots;
    if (codes_[at] == 0) {
      if (numbers_.size() == kCodes) return std::nullopt;
      numbers_.push_back(bits);
      codes_[at] = static_cast<uint16_t>(numbers_.size());
    }
    return static_cast<uint8_t>(codes_[at] - 1U);
  }
  const std::vector<uint32_t>& numbers() const { return numbers_; }

 private:
  static constexpr size_t kLogSlots = 10, kSlots = size_t{1} << kLogSlots;
  std::vector<uint32_t> numbers_;
  uint16_t codes_[kSlots] = {};  // Plus 1; 0 is a free slot.
};

Made with_codes(std::vector<uint8_t> codes, const Codebook& book, ScalarType dtype) {
  auto made = std::make_shared<Scales>();
  made->items = {1};
  made->span = codes.size();
  made->dtype = ScalarType::kByte;
  made->integers = own_bytes(std::move(codes));
  made->bits = book.numbers().size() <= 16 ? 4 : 8;
  made->table.resize(size_t{1} << made->bits);
  for (size_t code = 0; code < book.numbers().size(); ++code) {
    portable::loader<float>(dtype)(reinterpret_cast<const uint8_t*>(&book.numbers()[code]), 1, 1,
                                   &made->table[code]);
  }
  return made;
}

// The elements of a constant of floats as bytes, in a table of the numbers that occur; null if
// there are too many.
Made coded_numbers(const TensorType& type, const TensorData& data) {
  const size_t width = element_size(type.dtype);
  const bool is_candidate = type.is_contiguous() && type.is_static() &&
                            (has_16_bits(type.dtype) || type.dtype == ScalarType::kFloat) &&
                            data.data != nullptr && data.bytes > kSmall;
  if (!is_candidate) return nullptr;
  Codebook book;
  std::vector<uint8_t> codes(data.bytes / width);
  for (size_t i = 0; i < codes.size(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, data.data + i * width, width);
    const std::optional<uint8_t> code = book.code_of(bits);
    if (!code) return nullptr;
    codes[i] = *code;
  }
  return with_codes(std::move(codes), book, type.dtype);
}

// The numbers of a table, and the code of each of its entries; no codes if there are too many.
struct CodedTable {
  Codebook book;
  std::vector<uint8_t> codes;
};
CodedTable coded_table(const Value& table) {
  CodedTable made;
  for (const float number : floats_of(table)) {
    uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    const std::optional<uint8_t> code = made.book.code_of(bits);
    if (!code) return {};
    made.codes.push_back(*code);
  }
  return made;
}

// The codes of a look-up, whose table is that of the node, so that layers share it.
Made looked_up(const Node& node) {
  if (!node.is("taper::look_up")) return nullptr;
  const Value* bytes = node.arg(0).value();
  const CodedTable table = coded_table(*node.arg(1).value());
  const bool is_unscaled = floats_of(*node.arg(2).value()) == std::vector<float>{1};
  if (!is_plain(bytes) || !is_unscaled || table.codes.empty()) return nullptr;
  const size_t each = table.codes.size() / kCodes;
  std::vector<uint8_t> elements;
  elements.reserve(bytes->data.bytes * each);
  for (size_t i = 0; i < bytes->data.bytes; ++i) {
    const auto first = table.codes.begin() + static_cast<ptrdiff_t>(bytes->data.data[i] * each);
    elements.insert(elements.end(), first, first + static_cast<ptrdiff_t>(each));
  }
  return with_codes(std::move(elements), table.book, ScalarType::kFloat);
}

Made coded(const Argument& arg) {
  if (!arg.is_value() || arg.value()->role != ValueRole::kConstant) return nullptr;
  const Value& value = *arg.value();
  if (value.codes != nullptr) return std::make_shared<Scales>(*value.codes);
  return value.kind == ValueKind::kTensor ? coded_numbers(value.type, value.data) : nullptr;
}

Made coded_with_scales(const Node& node) {
  for (const size_t i : {0, 1}) {
    Made made = coded(node.arg(i));
    if (made == nullptr || !is_unscaled(*made) || !node.arg(1 - i).is_value()) continue;
    const auto scales = numbers_of(node.arg(1 - i).value(), node.outputs[0]->type);
    if (scales && set_scales(*made, *scales)) return made;
  }
  return nullptr;
}

// Whether the codes stand for these floats, rounded to their dtype, bit by bit.
bool are_codes_of(const Scales& codes, const TensorData& floats, ScalarType dtype) {
  const size_t width = element_size(dtype);
  if (codes.integers.bytes != floats.bytes / width) return false;
  const auto round = portable::storer<float>(dtype);
  for (size_t i = 0; i < codes.integers.bytes; ++i) {
    const float scale = codes.items[i / codes.span % codes.items.size()];
    const float element = codes.table[codes.integers.data[i]] * scale;
    uint8_t rounded[sizeof(float)];
    round(&element, 1, rounded, 1);
    if (std::memcmp(rounded, floats.data + i * width, width) != 0) return false;
  }
  return true;
}

// The same numbers as uint8.
void make_unsigned(Scales& scales) {
  if (scales.dtype == ScalarType::kByte) return;
  std::vector<uint8_t> integers(scales.integers.data, scales.integers.data + scales.integers.bytes);
  for (uint8_t& integer : integers) integer ^= 0x80;
  scales.integers = own_bytes(std::move(integers));
  scales.dtype = ScalarType::kByte;
  scales.zero_points.resize(scales.items.size());
  for (float& point : scales.zero_points) point += 128;
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
    if (each == nullptr || each->integers.bytes == 0 || part.value()->type.rank() != type.rank()) {
      return nullptr;
    }
    if (each->items.size() > 1) span = each->span;
  }
  const bool are_signed = std::all_of(
      all.begin(), all.end(), [](const Made& each) { return each->dtype == ScalarType::kChar; });
  if (!are_signed) std::for_each(all.begin(), all.end(), [](Made& each) { make_unsigned(*each); });
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

// Whether a node picks elements of a table, as 8-bit and 4-bit floats are spelled out.
bool looks_up(const Node& node) {
  return node.is("taper::look_up") || node.is("aten::index.Tensor") || node.is("aten::embedding") ||
         node.is("aten::index_select") || node.is("aten::gather");
}

// A number of the second operand is a constant of one element by now.
std::shared_ptr<const Scales> made_by(const Node& node) {
  if (node.is("quantized_decomposed::dequantize_per_tensor") ||
      node.is("quantized_decomposed::dequantize_per_tensor.tensor")) {
    return dequantised_by_one(node);
  }
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

// Whether elements of 16 bits are rounded once, at the end or by a multiplication, since integers
// and their differences fit: what dequantises, and the steps of it where they are spelled out.
bool rounds_once(const Node& node) {
  return is_cast(node) || node.is("aten::sub.Tensor") || node.is("aten::mul.Tensor") ||
         facts_of(node.target()).is(kReshapes) ||
         node.target().starts_with("quantized_decomposed::dequantize_per_");
}

}  // namespace

std::shared_ptr<const Scales> integers_of(const Node& node) {
  if (node.outputs.size() != 1) return nullptr;
  const Value* output = node.outputs[0];
  if (!is_plain(output)) return nullptr;
  if (output->type.rank() < 2) return nullptr;  // No weights, and small.
  const ScalarType dtype = output->type.dtype;
  if (dtype != ScalarType::kFloat && !(has_16_bits(dtype) && rounds_once(node))) return nullptr;
  const auto made = made_by(node);
  const bool fits = made != nullptr && made->integers.bytes != 0 &&
                    Sym(static_cast<int64_t>(made->integers.bytes)) == output->type.numel();
  if (!fits) return nullptr;
  const auto differences = as_differences(*made);
  return differences != nullptr ? differences : made;
}

std::shared_ptr<const Scales> codes_of(const Node& node, const TensorData& result) {
  if (node.outputs.size() != 1 || !is_plain(node.outputs[0])) return nullptr;
  const TensorType& type = node.outputs[0]->type;
  if (type.rank() < 2) return nullptr;
  if (looks_up(node)) {
    const Made made = result.bytes > kSmall ? looked_up(node) : nullptr;
    return made != nullptr ? made : coded_numbers(type, result);
  }
  const bool scales = node.is("aten::mul.Tensor");
  const bool moves = is_cast(node) || facts_of(node.target()).is(kReshapes);
  // Without scales, 16 bits are small enough unless they have codes already.
  const bool has_codes = moves && node.arg(0).is_value() && node.arg(0).value()->codes != nullptr;
  const bool fits =
      type.dtype == ScalarType::kFloat || ((scales || has_codes) && has_16_bits(type.dtype));
  if (!fits || !(scales || moves)) return nullptr;
  const Made made = scales ? coded_with_scales(node) : coded(node.arg(0));
  return made != nullptr && are_codes_of(*made, result, type.dtype) ? made : nullptr;
}

bool looks_up_few(const Node& node) {
  return node.is("taper::look_up") && !coded_table(*node.arg(1).value()).codes.empty();
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
