// Quantisation as torchao exports it: a scale and a zero point for each block of a tensor, where
// block_size gives the extent of a block along each dimension.
//
//   quantised = clamp(round(x * (1 / scale)) + zero point)    x = (quantised - zero point) * scale

#include <limits>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

// The shapes in which the blocks of the input have dimensions of their own.
struct Blocks {
  explicit Blocks(Builder& b) {
    const TensorSizes& sizes = b.in("input")->type.sizes;
    const Argument::List& given = b.arg("block_size").list();
    if (given.size() != sizes.size()) throw Failure("block_size and input have different ranks");
    for (size_t d = 0; d < sizes.size(); ++d) {
      const Sym block = given[d].is_int() ? Sym(given[d].to_int()) : sizes[d];
      const bool is_part = !(block == sizes[d]) && !(block == Sym(1));
      if (is_part && (!sizes[d].is_int() || sizes[d].as_int() % block.as_int() != 0)) {
        throw Failure("a size of " + sizes[d].text() + " is not a multiple of its block of " +
                      block.text());
      }
      if (is_part) add(Sym(sizes[d].as_int() / block.as_int()), false);
      add(is_part ? block : sizes[d], !(block == Sym(1)));
      if (block == Sym(1) && !(sizes[d] == Sym(1))) single.push_back(d);
      is_split = is_split || is_part;
    }
  }

  std::vector<Sym> sizes;      // The input's, split into blocks.
  std::vector<Sym> each;       // The same with one element per block: scales and zero points.
  std::vector<int64_t> dims;   // Which dimensions lie within a block.
  std::vector<size_t> single;  // Dimensions of the input along which blocks have extent 1.
  bool is_split = false;

 private:
  void add(const Sym& size, bool is_inside) {
    if (is_inside) dims.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(size);
    each.push_back(is_inside ? Sym(1) : size);
  }
};

// The call's quant_min or quant_max, or that of the dtype if the call gives none.
double bound(Builder& b, const char* name, const char* dtype, bool is_upper) {
  if (b.has(name)) return b.arg(name).to_double();
  switch (std::get<ScalarType>(b.arg(dtype).v)) {
    case ScalarType::kChar:
      return is_upper ? 127 : -128;
    case ScalarType::kByte:
      return is_upper ? 255 : 0;
    case ScalarType::kShort:
      return is_upper ? 32767 : -32768;
    default:
      throw Failure(std::string(name) + " is not given");
  }
}

bool has_zero_point(Builder& b) {
  return b.has("zero_point") && !(b.in("zero_point")->type.numel() == Sym(0));
}

void quantize(Builder& b) {
  const Blocks blocks(b);
  Value* inverse = b.op("reciprocal", {b.view(b.in("scale"), blocks.each)});
  Value* x = b.op("round", {b.mul(b.view(b.in("input"), blocks.sizes), inverse)});
  if (has_zero_point(b)) x = b.add(x, b.view(b.in("zero_point"), blocks.each));
  x = b.op("clamp", {x, bound(b, "quant_min", "output_dtype", false),
                     bound(b, "quant_max", "output_dtype", true)});
  b.result(b.view(x, b.out_type().sizes));
}

bool is_byte(ScalarType dtype) { return dtype == ScalarType::kChar || dtype == ScalarType::kByte; }

// torchao multiplies in the dtype of the result, whatever that of the scales is: scales of 16 bits
// must not narrow the product, nor zero points of 8 bits the difference. Zero points keep their
// fraction if they have one.
Value* scales_of(Builder& b, const std::vector<Sym>& sizes) {
  return b.cast(b.view(b.in("scale"), sizes), ScalarType::kFloat);
}
Argument zero_points_of(Builder& b, const std::vector<Sym>& sizes) {
  if (!has_zero_point(b)) return {};
  Value* given = b.view(b.in("zero_point"), sizes);
  if (is_floating(given->type.dtype)) return b.cast(given, ScalarType::kFloat);
  return is_byte(given->type.dtype) ? b.cast(given, ScalarType::kShort) : given;
}

// Weights of bytes with a scale per channel or per group of a row become the operators that
// constant folding and backends recognise. Returns false if the blocks have another form.
// REQUIRES: the result is float32.
bool dequantize_channels(Builder& b, const Blocks& blocks) {
  const Value* x = b.in("input");
  const bool is_plain = x->role == ValueRole::kConstant && is_byte(x->type.dtype) &&
                        b.out_type().dtype == ScalarType::kFloat;
  if (!is_plain || blocks.single.size() != 1) return false;
  const auto limit = [&](const char* name, bool is_upper) {
    return static_cast<int64_t>(bound(b, name, "input_dtype", is_upper));
  };
  if (blocks.is_split) {
    if (blocks.sizes.size() != 3 || blocks.single[0] != 0) return false;
    const std::vector<Sym> groups = {blocks.sizes[0], blocks.sizes[1]};
    const Argument zero_points = zero_points_of(b, groups);
    b.result(b.op(
        "quantized_decomposed::dequantize_per_channel_group",
        {b.in("input"), scales_of(b, groups), zero_points, limit("quant_min", false),
         limit("quant_max", true), x->type.dtype, blocks.sizes[2].as_int(), ScalarType::kFloat}));
    return true;
  }
  const std::vector<Sym> channels = {x->type.sizes[blocks.single[0]]};
  const Argument zero_points = zero_points_of(b, channels);
  b.result(b.op(
      "quantized_decomposed::dequantize_per_channel",
      {b.in("input"), scales_of(b, channels), zero_points, static_cast<int64_t>(blocks.single[0]),
       limit("quant_min", false), limit("quant_max", true), x->type.dtype}));
  return true;
}

void dequantize(Builder& b) {
  const Blocks blocks(b);
  if (dequantize_channels(b, blocks)) return;
  const ScalarType dtype = b.out_type().dtype;
  Value* x = b.cast(b.view(b.in("input"), blocks.sizes), dtype);
  if (has_zero_point(b)) x = b.sub(x, b.cast(b.view(b.in("zero_point"), blocks.each), dtype));
  x = b.mul(x, b.view(b.in("scale"), blocks.each));
  b.result(b.view(x, b.out_type().sizes));
}

double least_normal(ScalarType dtype) {
  return dtype == ScalarType::kHalf ? 0x1p-14 : double{std::numeric_limits<float>::min()};
}

void choose_qparams(Builder& b) {
  const Blocks blocks(b);
  const double min = bound(b, "quant_min", "target_dtype", false);
  const double max = bound(b, "quant_max", "target_dtype", true);
  Value* x = b.view(b.in("input"), blocks.sizes);
  Argument::List dims(blocks.dims.begin(), blocks.dims.end());
  const bool has_dims = !dims.empty();
  Value* low = has_dims ? b.op("amin", {x, dims, true}) : x;
  Value* high = has_dims ? b.op("amax", {x, dims, true}) : x;
  low = b.op("clamp", {low, Argument(), 0});
  high = b.op("clamp", {high, 0, Argument()});
  const std::string& mapping = b.arg("mapping_type").text();
  Value* scale = nullptr;
  if (mapping == "SYMMETRIC") {
    scale = b.div(b.op("maximum", {b.op("neg", {low}), high}), (max - min) / 2);
  } else if (mapping == "SYMMETRIC_NO_CLIPPING_ERR") {
    scale = b.op("maximum", {b.div(low, min), b.div(high, max)});
  } else if (mapping == "ASYMMETRIC") {
    scale = b.div(b.sub(high, low), max - min);
  } else {
    throw Failure("the mapping type " + mapping + " is not known");
  }
  const double eps = b.has("eps") ? b.arg("eps").to_double() : least_normal(x->type.dtype);
  scale = b.op("clamp", {scale, eps, Argument()});
  b.result(b.view(scale, b.out_type(0).sizes), 0);
  if (mapping != "ASYMMETRIC") {
    const auto middle = static_cast<int64_t>((max + min + 1) / 2);
    return b.result(b.full(b.out_type(1).sizes, middle, b.out_type(1).dtype), 1);
  }
  Value* offset = b.op("neg", {b.op("round", {b.div(low, scale)})});
  b.result(b.view(b.op("clamp", {b.add(offset, min), min, max}), b.out_type(1).sizes), 1);
}

// A product of int8 matrices, computed in int32.
void int_product(Builder& b) {
  b.result(
      b.op("mm", {b.cast(b.in("self"), ScalarType::kInt), b.cast(b.in("mat2"), ScalarType::kInt)}));
}

// Constant folding takes float32 as it is; other dtypes are converted from it.
void dequantize_format(Builder& b) {
  if (b.out_type().dtype == ScalarType::kFloat) {
    throw Failure("weights of this format must be constants of whole groups or blocks");
  }
  std::vector<Argument> args = b.node().args;
  args.back() = ScalarType::kFloat;
  Value* x = b.op(b.node().target(), args);
  b.result(b.cast(x, b.out_type().dtype));
}

}  // namespace

const Decompositions& affine_rules() {
  static const Decompositions table = {
      {"torchao::choose_qparams_affine", choose_qparams},
      {"torchao::quantize_affine", quantize},
      {"torchao::dequantize_affine", dequantize},
      {"_int_mm", int_product},
      {"torchao::dequantize_int4_tensor", dequantize_format},
      {"torchao::dequantize_gguf", dequantize_format},
  };
  return table;
}

}  // namespace taper::exir
