// The formats' numbers, from their definitions.

#include "exir/ops/float8.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace taper::exir {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

constexpr Float8Format kFormats[] = {
    {kFloat8E4m3fnCode, 3, 7, true, true, false},
    {kFloat8E5m2Code, 2, 15, true, true, true},
    {kFloat8E4m3fnuzCode, 3, 8, true, false, false},
    {kFloat8E5m2fnuzCode, 2, 16, true, false, false},
    {kFloat8E8m0fnuCode, 0, 127, false, false, false},
};

// The number without regard to what is infinite or no number.
float number_of(unsigned bits, int mantissa_bits, int bias) {
  const unsigned mantissa = bits & ((1U << mantissa_bits) - 1), exponent = bits >> mantissa_bits;
  const unsigned hidden = exponent == 0 ? 0 : 1U << mantissa_bits;
  const int power = std::max(static_cast<int>(exponent), 1) - bias - mantissa_bits;
  return std::ldexp(static_cast<float>(mantissa + hidden), power);
}

float decoded(const Float8Format& format, unsigned bits) {
  if (!format.has_sign)
    return bits == 0xFF ? kNan : std::ldexp(1.F, static_cast<int>(bits) - format.bias);
  const unsigned magnitude = bits & 0x7F;
  const float sign = bits >= 0x80 ? -1.F : 1.F;
  if (!format.has_negative_zero && bits == 0x80) return kNan;
  if (format.has_infinity && magnitude >> format.mantissa_bits == 31) {
    const bool is_infinite = (magnitude & ((1U << format.mantissa_bits) - 1)) == 0;
    return is_infinite ? sign * std::numeric_limits<float>::infinity() : kNan;
  }
  if (format.has_negative_zero && magnitude == 0x7F) return kNan;
  return sign * number_of(magnitude, format.mantissa_bits, format.bias);
}

}  // namespace

const Float8Format* find_float8(int64_t code) {
  for (const Float8Format& format : kFormats) {
    if (format.code == code) return &format;
  }
  return nullptr;
}

std::vector<float> float8_numbers(const Float8Format& format) {
  std::vector<float> numbers;
  for (unsigned bits = 0; bits < 256; ++bits) numbers.push_back(decoded(format, bits));
  return numbers;
}

std::vector<float> float4_numbers() {
  std::vector<float> numbers;
  for (unsigned bits = 0; bits < 16; ++bits) {
    numbers.push_back((bits >= 8 ? -1.F : 1.F) * number_of(bits & 7, 1, 1));
  }
  return numbers;
}

bool only_moves_elements(std::string_view target) {
  constexpr std::string_view kMoves[] = {
      "_reshape_alias",
      "_unsafe_view",
      "alias",
      "as_strided",
      "broadcast_to",
      "cat",
      "chunk",
      "clone",
      "concat",
      "concatenate",
      "contiguous",
      "copy",
      "copy_",
      "detach",
      "detach_",
      "embedding",
      "expand",
      "expand_as",
      "flatten.using_ints",
      "flip",
      "gather",
      "hstack",
      "index.Tensor",
      "index_copy",
      "index_copy_",
      "index_put",
      "index_put_",
      "index_select",
      "lift_fresh_copy",
      "masked_select",
      "mT",
      "movedim.int",
      "narrow",
      "numpy_T",
      "permute",
      "repeat",
      "reshape",
      "roll",
      "scatter.src",
      "scatter_.src",
      "select.int",
      "select_scatter",
      "slice.Tensor",
      "slice_scatter",
      "split.Tensor",
      "split_with_sizes",
      "squeeze",
      "squeeze.dim",
      "squeeze.dims",
      "stack",
      "swapaxes",
      "swapdims",
      "t",
      "tile",
      "transpose.int",
      "unbind.int",
      "unflatten.int",
      "unsafe_split.Tensor",
      "unsqueeze",
      "view",
      "view_as",
      "vstack",
      "where.self",
  };
  constexpr std::string_view kAten = "aten::";
  if (!target.starts_with(kAten)) return false;
  target.remove_prefix(kAten.size());
  return std::find(std::begin(kMoves), std::end(kMoves), target) != std::end(kMoves);
}

}  // namespace taper::exir
