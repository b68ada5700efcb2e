// 8-bit floats, which are bytes in the graph (exir/ops/float8.h), and blocks of 8-bit and 4-bit
// floats with scales of their own, as torchao and ExecuTorch export them.
//
//   decode: table[code]      encode: the nearest number, ties to even, as PyTorch casts float32
//   mxfp8:  element * 2^(scale code - 127)      nvfp4:  element * (tensor's scale * block's scale)

#include "exir/ops/float8.h"

#include <cmath>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

constexpr int kMantissaBits = 23, kBias = 127;  // Those of float32.
constexpr int64_t kMagnitude = 0x7FFFFFFF, kInfinity = 0x7F800000;

const Float8Format& format_of(Builder& b) {
  const Float8Format* format = find_float8(b.arg("format").to_int());
  if (format == nullptr) throw Failure("the format of its 8-bit floats is not known");
  return *format;
}

// The numbers of a table that bytes stand for, one after the other if there are several for each.
Value* look_up(Builder& b, Value* bytes, const std::vector<float>& table) {
  const auto each = static_cast<int64_t>(table.size() / 256);
  Value* numbers = b.view(b.numbers(table), {Sym(256), Sym(each)});
  std::vector<Sym> sizes = bytes->type.sizes;
  if (sizes.size() < 2) bytes = b.view(bytes, {Sym(1), bytes->type.numel()});
  Value* found = b.op("taper::look_up", {bytes, numbers, b.numbers(std::vector<float>{1})});
  if (!sizes.empty()) sizes.back() = sizes.back() * Sym(each);
  return b.view(found, sizes);
}

void decode(Builder& b) { b.result(look_up(b, b.in("codes"), float8_numbers(format_of(b)))); }

Value* bits_of(Builder& b, Value* x) { return b.op("view.dtype", {x, ScalarType::kInt}); }
Value* shifted(Builder& b, Value* x, int by) {
  return b.op("bitwise_right_shift.Tensor_Scalar", {x, int64_t{by}});
}

// The codes of magnitudes, given as float32 and as the bits of that. Above the least normal number
// bits are cut off and the exponent is moved; below it, the sum with a number whose last bit is
// worth the least code rounds.
Value* magnitude_codes(Builder& b, const Float8Format& format, Value* x, Value* bits) {
  const int cut = kMantissaBits - format.mantissa_bits;
  const int64_t moved = int64_t{kBias - format.bias} << kMantissaBits;
  const int64_t half = (int64_t{1} << (cut - 1)) - 1 - moved;
  Value* odd = b.op("bitwise_and.Scalar", {shifted(b, bits, cut), int64_t{1}});
  Value* normal = shifted(b, b.add(b.add(bits, half), odd), cut);
  const int power = kBias + 1 - format.bias - format.mantissa_bits + kMantissaBits;
  const int64_t large_bits = int64_t{power} << kMantissaBits;
  const double large = std::ldexp(1.0, power - kBias);
  Value* small = b.sub(bits_of(b, b.add(x, large)), large_bits);
  const int64_t least_normal = int64_t{kBias + 1 - format.bias} << kMantissaBits;
  return b.where(b.op("lt.Scalar", {bits, least_normal}), small, normal);
}

void encode_signed(Builder& b, const Float8Format& format, Value* x) {
  constexpr int64_t kSign = 0x80, kOnes = 0x7F;
  const int64_t infinity = int64_t{31} << format.mantissa_bits;
  const int64_t above = format.has_infinity        ? infinity
                        : format.has_negative_zero ? kOnes - 1
                                                   : kSign;
  Value* all = bits_of(b, x);
  Value* bits = b.op("bitwise_and.Scalar", {all, kMagnitude});
  Value* codes = magnitude_codes(b, format, b.op("abs", {x}), bits);
  codes = b.op("clamp", {codes, Argument(), above});
  const int64_t no_number = format.has_negative_zero ? kOnes : kSign;
  codes = b.where(b.op("gt.Scalar", {bits, kInfinity}),
                  b.constant(static_cast<double>(no_number), ScalarType::kInt), codes);
  Value* has_sign = b.op("lt.Scalar", {all, int64_t{0}});
  if (!format.has_negative_zero) {
    has_sign = b.op("logical_and", {has_sign, b.op("gt.Scalar", {codes, int64_t{0}})});
    has_sign = b.op("logical_and", {has_sign, b.op("lt.Scalar", {codes, kSign})});
  }
  b.result(b.where(has_sign, b.add(codes, kSign), codes));
}

// The exponent, rounded by the first bit of the mantissa: a half rounds up, but from 0 it does so
// only if more follows. The sign is lost; what is infinite or no number is 255.
void encode_power(Builder& b, Value* x) {
  constexpr int64_t kHalf = int64_t{1} << (kMantissaBits - 1), kLeast = kHalf + 1;
  Value* bits = b.op("bitwise_and.Scalar", {bits_of(b, x), kMagnitude});
  bits = b.op("clamp", {bits, Argument(), kInfinity});
  Value* codes = shifted(b, b.add(bits, kHalf), kMantissaBits);
  Value* is_zero = b.op("lt.Scalar", {bits, kLeast});
  codes = b.where(is_zero, b.constant(0, ScalarType::kInt), codes);
  b.result(codes);
}

void encode(Builder& b) {
  const Float8Format& format = format_of(b);
  Value* x = b.cast(b.in("self"), ScalarType::kFloat);
  if (!format.has_sign) return encode_power(b, x);
  encode_signed(b, format, x);
}

// Rows of numbers, of which blocks are multiplied by a scale each.
void scale_blocks(Builder& b, Value* numbers, Value* scales) {
  if (numbers->type.rank() != 2) throw Failure("its elements must be a matrix");
  const Sym rows = dim_of(numbers, 0), columns = dim_of(numbers, 1);
  const int64_t block = b.arg("block_size").to_int();
  if (block <= 0 || !columns.is_int() || columns.as_int() % block != 0) {
    throw Failure("rows of " + columns.text() + " are not whole blocks of " +
                  std::to_string(block));
  }
  const Sym blocks(columns.as_int() / block);
  if (!(scales->type.numel() == rows * blocks)) throw Failure("blocks must have a scale each");
  Value* products =
      b.mul(b.view(numbers, {rows, blocks, Sym(block)}), b.view(scales, {rows, blocks, Sym(1)}));
  b.result(b.view(products, {rows, columns}));
}

void dequantize_mx(Builder& b) {
  Value *numbers = b.in("qdata"), *scales = b.in("scale");
  if (numbers->type.dtype != ScalarType::kFloat || scales->type.dtype != ScalarType::kFloat) {
    throw Failure("its elements and scales must be 8-bit floats");
  }
  scale_blocks(b, numbers, scales);
}

void dequantize_nvfp4(Builder& b) {
  const std::vector<float> of_code = float4_numbers();
  std::vector<float> table;
  for (size_t byte = 0; byte < 256; ++byte) {
    table.insert(table.end(), {of_code[byte % 16], of_code[byte / 16]});
  }
  const auto bytes = [&](Value* x) {
    return x->type.dtype == ScalarType::kByte ? x : b.op("view.dtype", {x, ScalarType::kByte});
  };
  Value* scales = look_up(b, bytes(b.in("scale")), float8_numbers(*find_float8(kFloat8E4m3fnCode)));
  scale_blocks(b, look_up(b, bytes(b.in("qdata")), table), b.mul(b.in("per_tensor_scale"), scales));
}

// One operand of a product, times its scale: one for all, or one for each index of a dimension.
Value* scaled(Builder& b, const char* name, const char* scale_name, int64_t dim) {
  Value *x = b.in(name), *scale = b.in(scale_name);
  std::vector<Sym> each(2, Sym(1));
  each[static_cast<size_t>(dim)] = dim_of(x, dim);
  const bool is_one = scale->type.numel() == Sym(1);
  if (!is_one && scale->type.sizes != each) {
    throw Failure("scales of blocks in " + std::string(scale_name) + " are not supported");
  }
  return b.mul(x, is_one ? b.view(scale, {}) : scale);
}

// The front end has decoded the operands.
void scaled_product(Builder& b) {
  if (b.has("scale_result")) throw Failure("a scale of its result is not supported");
  Value* left = scaled(b, "self", "scale_a", 0);
  Value* product = b.op("mm", {left, scaled(b, "mat2", "scale_b", 1)});
  if (b.has("bias")) product = b.add(product, b.cast(b.in("bias"), ScalarType::kFloat));
  b.result(product);
}

void look_up_by_index(Builder& b) {
  Value* indices = b.cast(b.in("bytes"), ScalarType::kLong);
  Value* rows = b.op("index.Tensor", {b.in("table"), Argument::List{indices}});
  const Sym count = b.in("scales")->type.numel();
  b.result(b.mul(b.view(rows, b.out_type().sizes), b.view(b.in("scales"), {count, Sym(1)})));
}

}  // namespace

const Decompositions& float8_rules() {
  static const Decompositions table = {
      {"taper::decode_float8", decode},
      {"taper::encode_float8", encode},
      {"_scaled_mm", scaled_product},
      {"torchao::dequantize_mx", dequantize_mx},
      {"torchao::dequantize_nvfp4", dequantize_nvfp4},
  };
  return table;
}

const Decompositions& look_up_rules() {
  static const Decompositions table = {{"taper::look_up", look_up_by_index}};
  return table;
}

}  // namespace taper::exir
