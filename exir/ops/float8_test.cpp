// The numbers that the definitions of the formats give for some of their codes.

#include "exir/ops/float8.h"

#include <gtest/gtest.h>

#include <cmath>

namespace taper::exir {
namespace {

float number(int64_t code, uint8_t bits) {
  const Float8Format* format = find_float8(code);
  return format == nullptr ? NAN : float8_numbers(*format).at(bits);
}

TEST(Float8, KnowsItsFormats) {
  for (int64_t code : {29, 30, 31, 32, 33}) EXPECT_NE(find_float8(code), nullptr) << code;
  for (int64_t code : {0, 1, 7, 9, 28, 34}) EXPECT_EQ(find_float8(code), nullptr) << code;
}

TEST(Float8, HoldsLargestLeastAndOne) {
  EXPECT_EQ(number(kFloat8E4m3fnCode, 0x7E), 448.F);
  EXPECT_EQ(number(kFloat8E4m3fnCode, 0xFE), -448.F);
  EXPECT_EQ(number(kFloat8E4m3fnCode, 0x01), std::ldexp(1.F, -9));
  EXPECT_EQ(number(kFloat8E4m3fnCode, 0x38), 1.F);
  EXPECT_EQ(number(kFloat8E5m2Code, 0x7B), 57344.F);
  EXPECT_EQ(number(kFloat8E5m2Code, 0x01), std::ldexp(1.F, -16));
  EXPECT_EQ(number(kFloat8E5m2Code, 0xBC), -1.F);
  EXPECT_EQ(number(kFloat8E4m3fnuzCode, 0x7F), 240.F);
  EXPECT_EQ(number(kFloat8E4m3fnuzCode, 0x01), std::ldexp(1.F, -10));
  EXPECT_EQ(number(kFloat8E4m3fnuzCode, 0x40), 1.F);
  EXPECT_EQ(number(kFloat8E5m2fnuzCode, 0x7F), 57344.F);
  EXPECT_EQ(number(kFloat8E5m2fnuzCode, 0x81), -std::ldexp(1.F, -17));
  EXPECT_EQ(number(kFloat8E8m0fnuCode, 0x7F), 1.F);
  EXPECT_EQ(number(kFloat8E8m0fnuCode, 0x00), std::ldexp(1.F, -127));
  EXPECT_EQ(number(kFloat8E8m0fnuCode, 0xFE), std::ldexp(1.F, 127));
}

TEST(Float8, HoldsWhatIsNoNumber) {
  EXPECT_TRUE(std::isnan(number(kFloat8E4m3fnCode, 0x7F)));
  EXPECT_TRUE(std::isnan(number(kFloat8E4m3fnCode, 0xFF)));
  EXPECT_TRUE(std::signbit(number(kFloat8E4m3fnCode, 0x80)));
  EXPECT_EQ(number(kFloat8E5m2Code, 0x7C), INFINITY);
  EXPECT_EQ(number(kFloat8E5m2Code, 0xFC), -INFINITY);
  EXPECT_TRUE(std::isnan(number(kFloat8E5m2Code, 0x7D)));
  EXPECT_TRUE(std::isnan(number(kFloat8E4m3fnuzCode, 0x80)));
  EXPECT_TRUE(std::isnan(number(kFloat8E5m2fnuzCode, 0x80)));
  EXPECT_TRUE(std::isnan(number(kFloat8E8m0fnuCode, 0xFF)));
}

TEST(Float8, FourBitsHaveTheNumbersOfTheirDefinition) {
  EXPECT_EQ(float4_numbers(),
            (std::vector<float>{0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.F, -0.5, -1, -1.5, -2, -3, -4, -6}));
  EXPECT_TRUE(std::signbit(float4_numbers()[8]));
}

TEST(Float8, IsKeptOnlyByMoves) {
  EXPECT_TRUE(only_moves_elements("aten::transpose.int"));
  EXPECT_TRUE(only_moves_elements("aten::index_put_"));
  EXPECT_FALSE(only_moves_elements("aten::add.Tensor"));
  EXPECT_FALSE(only_moves_elements("aten::to.other"));
  EXPECT_FALSE(only_moves_elements("mine::t"));
}

}  // namespace
}  // namespace taper::exir
