// Accuracy of vector_math.h against the C library in double.

#include "kernels_portable/engine/vector_math.h"

#include <gtest/gtest.h>

#include <limits>

namespace taper::portable {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The largest relative error of `got` from `want` over [low, high].
template <typename Got, typename Want>
double worst_error(float low, float high, Got got, Want want) {
  double worst = 0;
  for (int i = 0; i <= 200000; ++i) {
    const float x = low + (high - low) * static_cast<float>(i) / 200000.0f;
    const double expected = want(static_cast<double>(x));
    if (expected == 0) continue;
    worst = std::max(worst, std::fabs((got(x) - expected) / expected));
  }
  return worst;
}

TEST(VectorMath, ExpIsCloseEverywhere) {
  const auto got = [](float x) { return static_cast<double>(exp_of(x)); };
  EXPECT_LT(worst_error(-86.5f, 88.7f, got, [](double x) { return std::exp(x); }), 2.5e-7);
  EXPECT_EQ(exp_of(0.0f), 1.0f);
  EXPECT_EQ(exp_of(89.0f), kInf);
  EXPECT_EQ(exp_of(kInf), kInf);
  EXPECT_EQ(exp_of(-kInf), 0.0f);
  EXPECT_EQ(exp_of(-100.0f), 0.0f);  // Subnormals are not made.
  EXPECT_TRUE(std::isnan(exp_of(kNan)));
}

TEST(VectorMath, TanhIsCloseEverywhere) {
  const auto got = [](float x) { return static_cast<double>(tanh_of(x)); };
  EXPECT_LT(worst_error(-12, 12, got, [](double x) { return std::tanh(x); }), 5e-7);
  EXPECT_EQ(tanh_of(kInf), 1.0f);
  EXPECT_EQ(tanh_of(-kInf), -1.0f);
  EXPECT_EQ(tanh_of(0.0f), 0.0f);
  EXPECT_TRUE(std::isnan(tanh_of(kNan)));
}

TEST(VectorMath, ErfIsCloseEverywhere) {
  const auto got = [](float x) { return static_cast<double>(erf_of(x)); };
  EXPECT_LT(worst_error(-6, 6, got, [](double x) { return std::erf(x); }), 5e-7);
  EXPECT_EQ(erf_of(kInf), 1.0f);
  EXPECT_EQ(erf_of(-kInf), -1.0f);
  EXPECT_TRUE(std::isnan(erf_of(kNan)));
}

TEST(VectorMath, SigmoidIsCloseEverywhere) {
  const auto got = [](float x) { return static_cast<double>(sigmoid_of(x)); };
  EXPECT_LT(worst_error(-80, 80, got, [](double x) { return 1 / (1 + std::exp(-x)); }), 4e-7);
  EXPECT_EQ(sigmoid_of(-kInf), 0.0f);
  EXPECT_EQ(sigmoid_of(kInf), 1.0f);
}

TEST(VectorMath, RoundingAgreesWithTheLibrary) {
  const float values[] = {0.0f,  -0.0f, 0.5f, -0.5f, 1.5f,       -1.5f,   2.5f, 0.3f, -0.3f,
                          0.75f, -0.7f, 1e9f, -1e9f, 8388607.5f, 8388609, kInf, -kInf};
  for (const float x : values) {
    EXPECT_EQ(round_of(x), std::nearbyint(x)) << x;
    EXPECT_EQ(floor_of(x), std::floor(x)) << x;
    EXPECT_EQ(ceil_of(x), std::ceil(x)) << x;
    EXPECT_EQ(trunc_of(x), std::trunc(x)) << x;
    EXPECT_EQ(std::signbit(ceil_of(x)), std::signbit(std::ceil(x))) << x;
    EXPECT_EQ(std::signbit(trunc_of(x)), std::signbit(std::trunc(x))) << x;
    const double y = x;
    EXPECT_EQ(round_of(y), std::nearbyint(y)) << x;
    EXPECT_EQ(floor_of(y), std::floor(y)) << x;
  }
  EXPECT_TRUE(std::isnan(floor_of(kNan)));
}

}  // namespace
}  // namespace taper::portable
