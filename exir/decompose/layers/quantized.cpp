// Quantised operators without a kernel, by their definition: scales and zero points per group of a
// row, chosen per token, or given as tensors.
//
//   quantised = clamp(round(x / scale + zero point))         x = (quantised - zero point) * scale
//
// A result is converted to the dtype that the program states.

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

Value* clamped(Builder& b, Value* x) {
  return b.op("clamp", {x, b.arg("quant_min"), b.arg("quant_max")});
}

// The shapes in which every group of a 2-d tensor is a row.
struct Groups {
  explicit Groups(Builder& b) {
    const TensorSizes& sizes = b.in("input")->type.sizes;
    const TensorSizes& scales = b.in("scales")->type.sizes;
    const Sym given = b.arg("group_size").to_int();
    if (sizes.size() != 2 || !sizes[1].is_int() || given.as_int() < 1) {
      throw Failure("groups need a matrix with rows of known length and a positive group_size");
    }
    const bool whole_row = given.as_int() > sizes[1].as_int() && scales.back() == Sym(1);
    const Sym size = whole_row ? sizes[1] : given;
    if (size.as_int() == 0 || sizes[1].as_int() % size.as_int() != 0) {
      throw Failure("rows of " + sizes[1].text() + " are not a multiple of group_size " +
                    size.text());
    }
    const Sym count = sizes[0] * Sym(sizes[1].as_int() / size.as_int());
    rows = {count, size};
    each = {count, Sym(1)};
  }
  std::vector<Sym> rows;
  std::vector<Sym> each;
};

void quantize_per_channel_group(Builder& b) {
  const Groups groups(b);
  Value* inverse = b.op("reciprocal", {b.view(b.in("scales"), groups.each)});
  Value* x = b.mul(b.view(b.in("input"), groups.rows), inverse);
  x = b.op("round", {b.add(x, b.view(b.in("zero_points"), groups.each))});
  b.result(b.view(clamped(b, x), b.out_type().sizes));
}

void dequantize_per_channel_group(Builder& b) {
  const Groups groups(b);
  Value* x = b.view(b.in("input"), groups.rows);
  // The difference has the dtype to which both are promoted: bytes wrap around.
  if (b.has("zero_points")) x = b.sub(x, b.view(b.in("zero_points"), groups.each));
  x = b.mul(x, b.view(b.in("scales"), groups.each));
  b.result(b.view(x, b.out_type().sizes));
}

void fake_quant_per_channel(Builder& b) {
  std::vector<Sym> sizes(b.in("input")->type.rank(), Sym(1));
  const auto axis = static_cast<size_t>(b.arg("axis").to_int());
  sizes.at(axis) = dim_of(b.in("input"), static_cast<int64_t>(axis));
  Value* scale = b.view(b.cast(b.in("scales"), ScalarType::kFloat), sizes);
  Value* zero_point = b.view(b.cast(b.in("zero_points"), ScalarType::kInt), sizes);
  Value* x = b.op("round", {b.mul(b.in("input"), b.op("reciprocal", {scale}))});
  b.result(b.mul(b.sub(clamped(b, b.add(x, zero_point)), zero_point), scale));
}

// aten::fake_quantize_*: scales and zero points are numbers or given per channel.
void fake_quantize(Builder& b, const Argument& inverse, const Argument& scale,
                   const Argument& zero_point) {
  Value* x = b.add(b.op("round", {b.mul(b.in("self"), inverse)}), zero_point);
  Value* inside = clamped(b, x);
  b.result(b.mul(b.sub(inside, zero_point), scale));
  // The second result, if there is one, is true for the elements that were not clamped.
  if (b.node().outputs.size() > 1) b.result(b.op("eq.Tensor", {inside, x}), 1);
}
void fake_quantize_per_tensor(Builder& b) {
  const auto scale = static_cast<float>(b.arg("scale").to_double());
  fake_quantize(b, double{1 / scale}, double{scale}, b.arg("zero_point"));
}
void fake_quantize_per_channel(Builder& b) {
  const Value* x = b.in("self");
  const int64_t axis = wrap_dim(b.arg("axis").to_int(), static_cast<int64_t>(x->type.rank()));
  std::vector<Sym> sizes(x->type.rank(), Sym(1));
  sizes.at(static_cast<size_t>(axis)) = dim_of(x, axis);
  Value* scale = b.view(b.in("scale"), sizes);
  fake_quantize(b, b.op("reciprocal", {scale}), scale,
                b.view(b.cast(b.in("zero_point"), scale->type.dtype), sizes));
}

// Symmetric int8: the largest magnitude of a row becomes 127.
void choose_qparams_per_token(Builder& b) {
  Value* largest = b.op("amax", {b.op("abs", {b.in("input")}), Argument::List{-1}, true});
  if (largest->type.dtype == ScalarType::kHalf) largest = b.cast(largest, ScalarType::kFloat);
  Value* scale = b.div(b.op("clamp", {largest, 1e-5, Argument()}), 127);
  b.result(scale, 0);
  b.result(b.full(scale->type.sizes, 0, scale->type.dtype), 1);
}

// The largest magnitude becomes half of the quantised range; for uint8 zero is in the middle.
void choose_qparams_symmetric(Builder& b) {
  Value* x = b.cast(b.in("input"), ScalarType::kFloat);
  Value* largest = b.op("amax", {b.op("abs", {x}), Argument::List{}, false});
  const double range = b.arg("quant_max").to_double() - b.arg("quant_min").to_double();
  Value* scale = b.op("clamp", {b.div(largest, range / 2), b.arg("eps"), Argument()});
  b.result(b.view(scale, b.out_type(0).sizes), 0);
  const bool is_unsigned = std::get<ScalarType>(b.arg("dtype").v) == ScalarType::kByte;
  b.result(b.full(b.out_type(1).sizes, is_unsigned ? 128 : 0, b.out_type(1).dtype), 1);
}

// A tensor of one element as a 0-d tensor of that dtype.
Value* number(Builder& b, std::string_view name, ScalarType dtype) {
  return b.cast(b.view(b.in(name), {}), dtype);
}

void quantize_per_tensor(Builder& b) {
  constexpr ScalarType kFloat = ScalarType::kFloat;
  Value* inverse = b.cast(b.op("reciprocal", {b.view(b.in("scale"), {})}), kFloat);
  Value* x = b.op("round", {b.mul(b.cast(b.in("input"), kFloat), inverse)});
  x = b.add(x, number(b, "zero_point", kFloat));
  x = b.op("maximum", {x, number(b, "quant_min", kFloat)});
  x = b.op("minimum", {x, number(b, "quant_max", kFloat)});
  b.result(x);
}

void dequantize_per_tensor(Builder& b) {
  constexpr ScalarType kFloat = ScalarType::kFloat;
  Value* x = b.sub(b.cast(b.in("input"), kFloat), number(b, "zero_point", kFloat));
  b.result(b.mul(x, number(b, "scale", kFloat)));
}

void convert_element_type(Builder& b) { b.result(b.in("input")); }

}  // namespace

const Decompositions& quantized_rules() {
  static const Decompositions table = {
      {"quantized_decomposed::quantize_per_channel_group", quantize_per_channel_group},
      {"quantized_decomposed::dequantize_per_channel_group", dequantize_per_channel_group},
      {"quantized_decomposed::fake_quant_per_channel", fake_quant_per_channel},
      {"fake_quantize_per_tensor_affine", fake_quantize_per_tensor},
      {"fake_quantize_per_channel_affine", fake_quantize_per_channel},
      {"fake_quantize_per_tensor_affine_cachemask", fake_quantize_per_tensor},
      {"fake_quantize_per_channel_affine_cachemask", fake_quantize_per_channel},
      {"quantized_decomposed::choose_qparams_per_token", choose_qparams_per_token},
      {"quantized_decomposed::choose_qparams_symmetric.tensor", choose_qparams_symmetric},
      {"quantized_decomposed::quantize_per_tensor.tensor2", quantize_per_tensor},
      {"quantized_decomposed::dequantize_per_tensor.tensor2", dequantize_per_tensor},
      {"quantized_decomposed::convert_element_type.no_fuse", convert_element_type},
  };
  return table;
}

}  // namespace taper::exir
