// The two 16-bit float types and their conversions to and from float.
//
// Half is IEEE binary16 (5 exponent bits, 10 mantissa bits), BFloat16 the upper half of a float.
// Conversions to 16 bits round once, to nearest even; NaN stays NaN and overflow becomes infinity.
// Each conversion computes every case and selects, so that a loop over it vectorises.

#pragma once

#include <cstdint>
#include <cstring>

namespace taper::portable {

struct Half {
  uint16_t bits;
};

struct BFloat16 {
  uint16_t bits;
};

inline uint32_t float_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float half_to_float(Half half) {
  const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(half.bits & 0x7fffu) << 13;
  // Moving the exponent bias from 15 to 127 is a product with 2^112, exact for subnormals too.
  const uint32_t scaled = float_bits(float_from_bits(magnitude) * float_from_bits(0x77800000u));
  const uint32_t special = magnitude | 0x7f800000u;  // Infinity and NaN.
  return float_from_bits(sign | (magnitude >= 0x0f800000u ? special : scaled));
}

inline Half float_to_half(float value) {
  const uint32_t bits = float_bits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const int32_t magnitude = static_cast<int32_t>(bits & 0x7fffffffu);
  const uint32_t m = static_cast<uint32_t>(magnitude);
  const uint32_t normal = (m + 0xfffu + ((m >> 13) & 1u) - 0x38000000u) >> 13;
  // 0.5 has a unit in the last place of 2^-24, the spacing of subnormal halves.
  const uint32_t small = float_bits(float_from_bits(m) + 0.5f) - 0x3f000000u;
  const uint32_t large = magnitude > 0x7f800000 ? 0x7e00u : 0x7c00u;
  uint32_t result = magnitude < 0x38800000 ? small : normal;
  result = magnitude >= 0x47800000 ? large : result;
  return {static_cast<uint16_t>(sign | result)};
}

inline float bfloat16_to_float(BFloat16 value) {
  return float_from_bits(static_cast<uint32_t>(value.bits) << 16);
}

inline BFloat16 float_to_bfloat16(float value) {
  const uint32_t bits = float_bits(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return {static_cast<uint16_t>(nan ? (bits >> 16) | 0x40u : rounded)};
}

}  // namespace taper::portable
