// The numbers that the definitions of the formats give for some of their codes.

#include "exir/frontend/float8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernels_portable/engine/half.h"

namespace taper::exir {
namespace {

constexpr int64_t kE4m3fn = 29, kE5m2 = 30, kE4m3fnuz = 31, kE5m2fnuz = 32, kE8m0fnu = 33;

float number(int64_t code, uint8_t bits) {
  const std::vector<uint8_t> wide = widen_float8(code, {0, bits});
  EXPECT_EQ(wide.size(), 4u);
  uint16_t item = 0;
  std::memcpy(&item, &wide[2], sizeof item);
  return code == kE8m0fnu ? portable::bfloat16_to_float({item}) : portable::half_to_float({item});
}

TEST(Float8, HasAHolder) {
  for (int64_t code : {kE4m3fn, kE5m2, kE4m3fnuz, kE5m2fnuz}) {
    EXPECT_EQ(float8_holder(code), ScalarType::kHalf) << code;
  }
  EXPECT_EQ(float8_holder(kE8m0fnu), ScalarType::kBFloat16);
  for (int64_t code : {0, 1, 7, 9, 28, 34}) EXPECT_FALSE(float8_holder(code)) << code;
}

TEST(Float8, HoldsLargestLeastAndOne) {
  EXPECT_EQ(number(kE4m3fn, 0x7E), 448.F);
  EXPECT_EQ(number(kE4m3fn, 0xFE), -448.F);
  EXPECT_EQ(number(kE4m3fn, 0x01), std::ldexp(1.F, -9));
  EXPECT_EQ(number(kE4m3fn, 0x38), 1.F);
  EXPECT_EQ(number(kE5m2, 0x7B), 57344.F);
  EXPECT_EQ(number(kE5m2, 0x01), std::ldexp(1.F, -16));
  EXPECT_EQ(number(kE5m2, 0xBC), -1.F);
  EXPECT_EQ(number(kE4m3fnuz, 0x7F), 240.F);
  EXPECT_EQ(number(kE4m3fnuz, 0x01), std::ldexp(1.F, -10));
  EXPECT_EQ(number(kE4m3fnuz, 0x40), 1.F);
  EXPECT_EQ(number(kE5m2fnuz, 0x7F), 57344.F);
  EXPECT_EQ(number(kE5m2fnuz, 0x81), -std::ldexp(1.F, -17));
  EXPECT_EQ(number(kE8m0fnu, 0x7F), 1.F);
  EXPECT_EQ(number(kE8m0fnu, 0x00), std::ldexp(1.F, -127));
  EXPECT_EQ(number(kE8m0fnu, 0xFE), std::ldexp(1.F, 127));
}

TEST(Float8, HoldsWhatIsNoNumber) {
  EXPECT_TRUE(std::isnan(number(kE4m3fn, 0x7F)));
  EXPECT_TRUE(std::isnan(number(kE4m3fn, 0xFF)));
  EXPECT_TRUE(std::signbit(number(kE4m3fn, 0x80)));
  EXPECT_EQ(number(kE5m2, 0x7C), INFINITY);
  EXPECT_EQ(number(kE5m2, 0xFC), -INFINITY);
  EXPECT_TRUE(std::isnan(number(kE5m2, 0x7D)));
  EXPECT_TRUE(std::isnan(number(kE4m3fnuz, 0x80)));
  EXPECT_TRUE(std::isnan(number(kE5m2fnuz, 0x80)));
  EXPECT_TRUE(std::isnan(number(kE8m0fnu, 0xFF)));
}

TEST(Float8, IsKeptOnlyByMoves) {
  EXPECT_TRUE(only_moves_elements("aten::transpose.int"));
  EXPECT_FALSE(only_moves_elements("aten::copy_"));
  EXPECT_FALSE(only_moves_elements("aten::to.other"));
  EXPECT_FALSE(only_moves_elements("mine::t"));
}

}  // namespace
}  // namespace taper::exir
