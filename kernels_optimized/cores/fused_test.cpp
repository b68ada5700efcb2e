// The fused functions at every level that this processor supports, against double.

#include "kernels_optimized/cores/fused.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/engine/dispatch.h"

namespace taper::optimized {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename Check>
void at_each_level(Check check) {
  for (Level limit : kLevels) {
    limit_level(limit);
    if (has_vectors()) check();
  }
  limit_level(Level::kAvx512);
}

using OfDouble = double (*)(double);

// -100 to 100 in small steps.
std::vector<float> many_numbers() {
  std::vector<float> x;
  for (int i = -2000; i <= 2000; ++i) x.push_back(static_cast<float>(i) / 20);
  return x;
}

// The error is at most 4e-7 of the result, or `absolute` if that is more.
void expect_function(Function function, double absolute, OfDouble expected) {
  const std::vector<float> x = many_numbers();
  at_each_level([&] {
    std::vector<float> y(x.size() + 1, 7);
    apply(function, x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const double v = static_cast<double>(x[i]), want = expected(v);
      ASSERT_NEAR(y[i], want, absolute + 4e-7 * std::abs(want)) << v;
    }
    EXPECT_EQ(y.back(), 7);
  });
}

double hardswish(double v) { return v * std::fmin(std::fmax(v + 3, 0), 6) / 6; }
double gelu(double v) { return 0.5 * v * std::erfc(-v / std::sqrt(2.0)); }

TEST(Fused, FunctionsOfEachElement) {
  expect_function(Function::kSwish, 1e-35, [](double v) { return v / (1 + std::exp(-v)); });
  expect_function(Function::kSigmoid, 1e-37, [](double v) { return 1 / (1 + std::exp(-v)); });
  expect_function(Function::kHardswish, 4e-7, hardswish);
  expect_function(Function::kGelu, 1e-6, gelu);
  expect_function(Function::kTanh, 1e-7, [](double v) { return std::tanh(v); });
}

TEST(Fused, FunctionsOfNanAndInfinity) {
  const float x[] = {std::nanf(""), kInfinity, -kInfinity};
  at_each_level([&] {
    float y[3];
    apply(Function::kSwish, x, y, 3);
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[1], kInfinity);
    EXPECT_TRUE(std::isnan(y[2]));  // -infinity * 0, as in PyTorch.
    apply(Function::kSigmoid, x, y, 3);
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[1], 1);
    EXPECT_EQ(y[2], 0);
    apply(Function::kHardswish, x, y, 3);
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[1], kInfinity);
    EXPECT_TRUE(std::isnan(y[2]));
  });
}

TEST(Fused, GeluByTanh) {
  at_each_level([] {
    std::vector<float> x, y(200, 7);
    for (int i = 0; i < 199; ++i) x.push_back(static_cast<float>(i - 99) / 10);
    apply(Function::kGeluTanh, x.data(), y.data(), 199);
    for (size_t i = 0; i < x.size(); ++i) {
      const double v = static_cast<double>(x[i]), inner = v + 0.044715 * v * v * v;
      const double want = 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * inner));
      ASSERT_NEAR(y[i], want, 1e-6 * std::fmax(1, std::abs(v))) << v;
    }
    EXPECT_EQ(y.back(), 7);
  });
}

TEST(Fused, AddClamped) {
  at_each_level([] {
    const std::vector<float> a = {1, -4, 9, 0.5f, std::nanf("")}, b = {1, 1, 1, 1, 1};
    std::vector<float> y(5);
    add_clamped(a.data(), b.data(), 0, 6, y.data(), 5);
    EXPECT_EQ(std::vector<float>(y.begin(), y.begin() + 4), (std::vector<float>{2, 0, 6, 1.5f}));
    EXPECT_TRUE(std::isnan(y[4]));
  });
}

}  // namespace
}  // namespace taper::optimized
