// Accuracy of trig.h against the C library in long double.

#include "kernels_portable/engine/trig.h"

#include <gtest/gtest.h>

#include <limits>

namespace taper::portable {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kUlps = 4 * std::numeric_limits<double>::epsilon() / 2;

void expect_close(double got, long double want) {
  EXPECT_LE(std::fabs(static_cast<long double>(got) - want), kUlps * std::fabs(want));
}

TEST(Trig, AnglesAreCloseEverywhere) {
  for (int i = -5000; i <= 5000; ++i) {
    const double x = i / 5000.0;
    expect_close(asin_of(x), std::asin(static_cast<long double>(x)));
    expect_close(acos_of(x), std::acos(static_cast<long double>(x)));
    const double wide = x * std::ldexp(1.0, i % 60);
    expect_close(atan_of(wide), std::atan(static_cast<long double>(wide)));
    const double turns = 20 * x;
    expect_close(tan_of(turns), std::tan(static_cast<long double>(turns)));
    for (const double y : {1e-300, 0.01, 3.0, -1e20}) {
      expect_close(atan2_of(wide, y), std::atan2(static_cast<long double>(wide), y));
    }
  }
}

TEST(Trig, EdgesAreTheCLibrarys) {
  const double edges[] = {0.0, -0.0, 1.0, -1.0, 1e-320, kInf, -kInf};
  for (const double y : edges) {
    for (const double x : edges) {
      EXPECT_DOUBLE_EQ(atan2_of(y, x), std::atan2(y, x)) << y << " " << x;
      EXPECT_EQ(std::signbit(atan2_of(y, x)), std::signbit(std::atan2(y, x))) << y << " " << x;
    }
    EXPECT_TRUE(std::isnan(atan2_of(y, kNan)));
    EXPECT_TRUE(std::isnan(atan2_of(kNan, y)));
  }
  EXPECT_TRUE(std::isnan(asin_of(1.5)));
  EXPECT_TRUE(std::isnan(acos_of(-kInf)));
  EXPECT_TRUE(std::isnan(tan_of(kInf)));
}

}  // namespace
}  // namespace taper::portable
