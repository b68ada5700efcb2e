// The 16-bit floats against IEEE's definition: every value, and every rounding boundary.

#include "kernels_portable/engine/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels_portable/engine/convert.h"

namespace taper::portable {
namespace {

// The value of a finite half, from its fields.
double meaning(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryValueGoesThereAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half half = {static_cast<uint16_t>(bits)};
    const float value = half_to_float(half);
    if ((bits & 0x7c00) == 0x7c00) {
      EXPECT_EQ(std::isnan(value), (bits & 0x3ff) != 0) << bits;
      EXPECT_EQ(std::isinf(value), (bits & 0x3ff) == 0) << bits;
    } else {
      EXPECT_EQ(value, meaning(half.bits)) << bits;
    }
    if (!std::isnan(value)) {
      EXPECT_EQ(float_to_half(value).bits, bits);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = meaning(static_cast<uint16_t>(bits));
    const double high = meaning(static_cast<uint16_t>(bits + 1));
    const float middle = static_cast<float>((low + high) / 2);
    EXPECT_EQ(float_to_half(middle).bits, (bits & 1) != 0 ? bits + 1 : bits) << bits;
    EXPECT_EQ(float_to_half(std::nextafterf(middle, 0)).bits, bits) << bits;
    EXPECT_EQ(float_to_half(std::nextafterf(middle, 1e9f)).bits, bits + 1) << bits;
  }
  EXPECT_EQ(float_to_half(65519.0f).bits, 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(float_to_half(-1e30f).bits, 0xfc00);
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(float_to_bfloat16(float_from_bits(0x3f808000)).bits, 0x3f80);
  EXPECT_EQ(float_to_bfloat16(float_from_bits(0x3f808001)).bits, 0x3f81);
  EXPECT_EQ(float_to_bfloat16(float_from_bits(0x3f818000)).bits, 0x3f82);
  EXPECT_EQ(float_to_bfloat16(float_from_bits(0x7f7fffff)).bits, 0x7f80);
  const BFloat16 nan = float_to_bfloat16(float_from_bits(0x7f800001));
  EXPECT_TRUE(std::isnan(bfloat16_to_float(nan)));
}

TEST(Convert, FloatsThatNoIntegerHoldsAreDefined) {
  EXPECT_EQ(convert<int64_t>(1e30f), INT64_MAX);
  EXPECT_EQ(convert<int64_t>(-1e30), INT64_MIN);
  EXPECT_EQ(convert<int64_t>(std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_EQ(convert<uint8_t>(300.0f), 44);
  EXPECT_EQ(convert<uint8_t>(-1.0f), 255);
  EXPECT_EQ(convert<bool>(0.25f), true);
  EXPECT_EQ(convert<bool>(std::numeric_limits<float>::quiet_NaN()), true);
}

TEST(Convert, ABoolIsReadAsAByte) {
  const uint8_t bytes[] = {0, 1, 2, 255};
  float values[4];
  loader<float>(ScalarType::kBool)(bytes, 1, 4, values);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[2], 1);
  EXPECT_EQ(values[3], 1);
}

}  // namespace
}  // namespace taper::portable
