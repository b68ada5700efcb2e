// Decodes all 256 numbers of a format once per tensor, and looks the elements up.

#include "exir/frontend/float8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "exir/frontend/dtype_code.h"
#include "kernels_portable/engine/half.h"

namespace taper::exir {
namespace {

struct Format {
  int64_t code;
  int mantissa_bits, bias;
  bool has_negative_zero;  // Otherwise its bits are the only NaN.
  bool has_infinity;
};

constexpr Format kFormats[] = {
    {kFloat8E4m3fnCode, 3, 7, true, false},
    {kFloat8E5m2Code, 2, 15, true, true},
    {kFloat8E4m3fnuzCode, 3, 8, false, false},
    {kFloat8E5m2fnuzCode, 2, 16, false, false},
};

const Format* find_format(int64_t code) {
  for (const Format& format : kFormats) {
    if (format.code == code) return &format;
  }
  return nullptr;
}

float decoded(const Format& format, unsigned bits) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const unsigned mantissa = bits & ((1U << format.mantissa_bits) - 1);
  const unsigned exponent = (bits & 0x7F) >> format.mantissa_bits;
  const float sign = bits >= 0x80 ? -1.F : 1.F;
  if (!format.has_negative_zero && bits == 0x80) return kNan;
  if (format.has_infinity && exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity() : kNan;
  }
  const bool is_all_ones = (bits & 0x7F) == 0x7F;
  if (format.has_negative_zero && is_all_ones) return kNan;
  const unsigned hidden = exponent == 0 ? 0 : 1U << format.mantissa_bits;
  const int power = std::max(static_cast<int>(exponent), 1) - format.bias - format.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(mantissa + hidden), power);
}

// The bits of 2^(bits - 127) as bfloat16, whose least normal number is 2^-126.
uint16_t power_of_two(unsigned bits) {
  if (bits == 0xFF) return 0x7FC0;  // NaN
  return static_cast<uint16_t>(bits == 0 ? 0x40 : bits << 7);
}

std::array<uint16_t, 256> table_of(int64_t code) {
  std::array<uint16_t, 256> table{};
  const Format* format = find_format(code);
  for (unsigned bits = 0; bits < table.size(); ++bits) {
    table[bits] = format == nullptr ? power_of_two(bits)
                                    : portable::float_to_half(decoded(*format, bits)).bits;
  }
  return table;
}

}  // namespace

std::optional<ScalarType> float8_holder(int64_t code) {
  if (code == kFloat8E8m0fnuCode) return ScalarType::kBFloat16;
  if (find_format(code) != nullptr) return ScalarType::kHalf;
  return std::nullopt;
}

std::vector<uint8_t> widen_float8(int64_t code, const std::vector<uint8_t>& elements) {
  const std::array<uint16_t, 256> table = table_of(code);
  std::vector<uint8_t> wide(2 * elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    std::memcpy(&wide[2 * i], &table[elements[i]], sizeof(uint16_t));
  }
  return wide;
}

bool only_moves_elements(std::string_view target) {
  constexpr std::string_view kMoves[] = {
      "alias",
      "cat",
      "chunk",
      "clone",
      "contiguous",
      "detach",
      "detach_",
      "embedding",
      "expand",
      "flatten.using_ints",
      "index_select",
      "lift_fresh_copy",
      "mT",
      "numpy_T",
      "permute",
      "reshape",
      "select.int",
      "slice.Tensor",
      "split.Tensor",
      "split_with_sizes",
      "squeeze",
      "squeeze.dim",
      "squeeze.dims",
      "stack",
      "t",
      "transpose.int",
      "unbind.int",
      "unflatten.int",
      "unsqueeze",
      "view",
      "_unsafe_view",
  };
  constexpr std::string_view kAten = "aten::";
  if (!target.starts_with(kAten)) return false;
  target.remove_prefix(kAten.size());
  return std::find(std::begin(kMoves), std::end(kMoves), target) != std::end(kMoves);
}

}  // namespace taper::exir
