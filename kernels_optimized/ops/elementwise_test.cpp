// Element-wise operators against the C library in double, at every level: ranges far beyond those
// of models, NaN and infinities, counts that leave tails, broadcasting.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::call_fast;
using test::LevelLimit;
using test::TestTensor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Values from -110 to 110, interspersed with every kind of special value.
TestTensor probes(int32_t count) {
  const float special[] = {0.0f,  -0.0f,  kInfinity, -kInfinity, NAN,   1e-40f,
                           88.8f, -88.8f, 1e30f,     -1e30f,     -3.0f, 3.0f};
  TestTensor result(ScalarType::kFloat, {count});
  float* to = result->mutable_data_ptr<float>();
  for (int32_t i = 0; i < count; ++i) {
    const float step = static_cast<float>(i) / static_cast<float>(count) - 0.5f;
    to[i] = i % 17 == 3 ? special[(i / 17) % 12] : i % 2 != 0 ? step * 220 : step * 12;
  }
  return result;
}

void expect_close(float got, double want, double x, const char* name) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << name << " of " << x << " is " << got;
  } else if (std::isinf(want) || std::fabs(want) > 3.4e38) {
    EXPECT_TRUE(std::isinf(got) && (got > 0) == (want > 0)) << name << " of " << x << ": " << got;
  } else {
    EXPECT_NEAR(static_cast<double>(got), want, 2e-6 * std::fabs(want) + 1e-6)
        << name << " of " << x;
  }
}

double gelu_tanh(double x) {
  return x / 2 * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

struct UnaryCase {
  const char* name;
  double (*want)(double);
  const char* approximate = nullptr;
};

TEST(Elementwise, UnaryAgreesWithTheCLibrary) {
  const UnaryCase cases[] = {
      {"aten::exp.out", [](double x) { return std::exp(x); }},
      {"aten::sigmoid.out", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"aten::silu.out", [](double x) { return x / (1 + std::exp(-x)); }},
      {"aten::tanh.out", [](double x) { return std::tanh(x); }},
      {"aten::erf.out", [](double x) { return std::erf(x); }},
      {"aten::relu.out", [](double x) { return x < 0 ? 0 : x; }},
      {"aten::hardsigmoid.out",
       [](double x) {
         return (x + 3 < 0 ? 0 : x + 3 > 6 ? 6 : x + 3) / 6;
       }},
      {"aten::hardswish.out",
       [](double x) {
         return x * (x + 3 < 0 ? 0 : x + 3 > 6 ? 6 : x + 3) / 6;
       }},
      {"aten::gelu.out", [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); },
       "none"},
      {"aten::gelu.out", gelu_tanh, "tanh"},
      {"aten::log.out", [](double x) { return std::log(x); }},
      {"aten::log2.out", [](double x) { return std::log2(x); }},
      {"aten::log10.out", [](double x) { return std::log10(x); }},
      {"aten::log1p.out", [](double x) { return std::log1p(x); }},
      {"aten::expm1.out", [](double x) { return std::expm1(x); }},
      {"aten::sin.out", [](double x) { return std::sin(x); }},
      {"aten::cos.out", [](double x) { return std::cos(x); }},
      {"aten::atan.out", [](double x) { return std::atan(x); }},
      {"aten::sqrt.out", [](double x) { return std::sqrt(x); }},
      {"aten::floor.out", [](double x) { return std::floor(x); }},
      {"aten::ceil.out", [](double x) { return std::ceil(x); }},
      {"aten::round.out", [](double x) { return std::nearbyint(x); }},
      {"aten::trunc.out", [](double x) { return std::trunc(x); }},
      {"aten::sign.out", [](double x) { return static_cast<double>(x > 0) - (x < 0); }},
      {"aten::tan.out", [](double x) { return std::tan(x); }},
      {"aten::asin.out", [](double x) { return std::asin(x); }},
      {"aten::acos.out", [](double x) { return std::acos(x); }},
      {"aten::sinh.out", [](double x) { return std::sinh(x); }},
      {"aten::cosh.out", [](double x) { return std::cosh(x); }},
      {"aten::atanh.out", [](double x) { return std::atanh(x); }},
      {"aten::asinh.out", [](double x) { return std::asinh(x); }},
      {"aten::acosh.out", [](double x) { return std::acosh(x); }},
      {"aten::rsqrt.out", [](double x) { return 1 / std::sqrt(x); }},
      {"aten::abs.out", [](double x) { return std::fabs(x); }},
      {"aten::neg.out", [](double x) { return -x; }},
      {"aten::reciprocal.out", [](double x) { return 1 / x; }},
  };
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    for (const UnaryCase& c : cases) {
      for (const int32_t count : {0, 1, 3, 15, 16, 33, 4001}) {
        TestTensor in = probes(count), out(ScalarType::kFloat, {count});
        if (c.approximate != nullptr) {
          call_fast(c.name, {EValue(&*in), EValue(c.approximate, 4), EValue(&*out)});
        } else {
          call_fast(c.name, {EValue(&*in), EValue(&*out)});
        }
        const std::vector<float> x = in.values<float>(), got = out.values<float>();
        for (size_t i = 0; i < x.size() && !HasFailure(); ++i) {
          const double wide = static_cast<double>(x[i]);
          expect_close(got[i], c.want(wide), wide, c.name);
        }
      }
    }
  }
}

// Near 0 the result of each of these is close to its argument, so the relative error must be small
// there, down to subnormal numbers. Logarithms are small near 1.
TEST(Elementwise, SmallResultsHaveAllTheirDigits) {
  struct Near {
    const char* name;
    double (*want)(double);
    float at;
  };
  const Near cases[] = {
      {"aten::log1p.out", [](double x) { return std::log1p(x); }, 0},
      {"aten::expm1.out", [](double x) { return std::expm1(x); }, 0},
      {"aten::sin.out", [](double x) { return std::sin(x); }, 0},
      {"aten::tan.out", [](double x) { return std::tan(x); }, 0},
      {"aten::atan.out", [](double x) { return std::atan(x); }, 0},
      {"aten::asin.out", [](double x) { return std::asin(x); }, 0},
      {"aten::sinh.out", [](double x) { return std::sinh(x); }, 0},
      {"aten::atanh.out", [](double x) { return std::atanh(x); }, 0},
      {"aten::asinh.out", [](double x) { return std::asinh(x); }, 0},
      {"aten::acos.out", [](double x) { return std::acos(x); }, 1},
      {"aten::log.out", [](double x) { return std::log(x); }, 1},
      {"aten::log2.out", [](double x) { return std::log2(x); }, 1},
      {"aten::log10.out", [](double x) { return std::log10(x); }, 1},
  };
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    for (const Near& c : cases) {
      TestTensor in(ScalarType::kFloat, {251}), out(ScalarType::kFloat, {251});
      float* x = in->mutable_data_ptr<float>();
      for (int i = 0; i < 251; ++i) {
        x[i] = c.at + std::ldexp(i % 2 != 0 ? 1.37f : -1.37f, -(i / 2));
      }
      call_fast(c.name, {EValue(&*in), EValue(&*out)});
      for (int i = 0; i < 251; ++i) {
        const double want = c.want(static_cast<double>(x[i]));
        const double got = static_cast<double>(out.values<float>()[static_cast<size_t>(i)]);
        if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(got)) << c.name << " of " << x[i];
        } else {
          EXPECT_NEAR(got, want, 3e-7 * std::fabs(want)) << c.name << " of " << x[i];
        }
      }
    }
  }
}

TEST(Elementwise, SmallNumbersAndLargeAngles) {
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    TestTensor in(ScalarType::kFloat, {6}), out(ScalarType::kFloat, {6});
    const float x[] = {1e-45f, 1e-40f, 8191.9f, 8192.5f, 3e9f, -1e30f};
    std::copy(std::begin(x), std::end(x), in->mutable_data_ptr<float>());
    call_fast("aten::log.out", {EValue(&*in), EValue(&*out)});
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(out.values<float>()[i], std::log(static_cast<double>(x[i])), 1e-5) << x[i];
    }
    call_fast("aten::sin.out", {EValue(&*in), EValue(&*out)});
    for (size_t i = 2; i < 6; ++i) {
      EXPECT_NEAR(out.values<float>()[i], std::sin(static_cast<double>(x[i])), 1e-6) << x[i];
    }
  }
}

TEST(Elementwise, EluHasThreeFactors) {
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    TestTensor in = probes(131), out(ScalarType::kFloat, {131});
    call_fast("aten::elu.out",
              {EValue(&*in), EValue(1.5), EValue(0.5), EValue(2.0), EValue(&*out)});
    for (size_t i = 0; i < 131; ++i) {
      const double x = static_cast<double>(in.values<float>()[i]);
      expect_close(out.values<float>()[i], x > 0 ? x * 0.5 : 0.75 * std::expm1(2 * x), x, "elu");
    }
  }
}

struct BinaryCase {
  const char* name;
  double (*want)(double, double);
  bool has_alpha;
};

void check_broadcast(const BinaryCase& c, const std::vector<int32_t>& a_sizes,
                     const std::vector<int32_t>& b_sizes) {
  SCOPED_TRACE(c.name);
  TestTensor a(ScalarType::kFloat, a_sizes), b(ScalarType::kFloat, b_sizes);
  TestTensor out(ScalarType::kFloat, {3, 5, 21});
  for (int64_t i = 0; i < a->numel(); ++i) {
    a->mutable_data_ptr<float>()[i] = static_cast<float>(i % 23) - 11;
  }
  for (int64_t i = 0; i < b->numel(); ++i) {
    b->mutable_data_ptr<float>()[i] = 0.5f + static_cast<float>(i % 7);
  }
  if (c.has_alpha) {
    call_fast(c.name, {EValue(&*a), EValue(&*b), EValue(2.0), EValue(&*out)});
  } else {
    call_fast(c.name, {EValue(&*a), EValue(&*b), EValue(&*out)});
  }
  const auto at = [](TestTensor& t, const std::vector<int32_t>& sizes, int32_t i, int32_t j,
                     int32_t k) {
    const int32_t index[] = {i, j, k};
    int32_t offset = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      offset = offset * sizes[d] + (sizes[d] == 1 ? 0 : index[3 - sizes.size() + d]);
    }
    return static_cast<double>(t->const_data_ptr<float>()[offset]);
  };
  for (int32_t i = 0; i < 315; ++i) {
    const int32_t x = i / 105, y = i / 21 % 5, z = i % 21;
    const double want = c.want(at(a, a_sizes, x, y, z), at(b, b_sizes, x, y, z));
    EXPECT_NEAR(out->const_data_ptr<float>()[i], want, 1e-6 * std::fabs(want)) << i;
  }
}

TEST(Elementwise, GluIsOneHalfTimesAShareOfIt) {
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    for (const int32_t inner : {1, 5, 64}) {
      constexpr int32_t kOuter = 3, kHalf = 7;
      TestTensor in = probes(kOuter * 2 * kHalf * inner);
      const std::vector<float> x = in.values<float>();
      TestTensor self(ScalarType::kFloat, {kOuter, 2 * kHalf, inner});
      TestTensor out(ScalarType::kFloat, {kOuter, kHalf, inner});
      std::copy(x.begin(), x.end(), self->mutable_data_ptr<float>());
      call_fast("aten::glu.out", {EValue(&*self), EValue(int64_t{-2}), EValue(&*out)});
      const std::vector<float> got = out.values<float>();
      const auto half = size_t{kHalf} * static_cast<size_t>(inner);
      for (size_t i = 0; i < got.size() && !HasFailure(); ++i) {
        const size_t at = i / half * 2 * half + i % half;
        const double a = x[at], b = x[at + half];
        expect_close(got[i], a / (1 + std::exp(-b)), b, "glu");
      }
    }
  }
}

TEST(Elementwise, BinaryBroadcasts) {
  const BinaryCase cases[] = {
      {"aten::add.out", [](double a, double b) { return a + 2 * b; }, true},
      {"aten::sub.out", [](double a, double b) { return a - 2 * b; }, true},
      {"aten::mul.out", [](double a, double b) { return a * b; }, false},
      {"aten::div.out", [](double a, double b) { return a / b; }, false},
  };
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    for (const BinaryCase& c : cases) {
      check_broadcast(c, {3, 5, 21}, {3, 5, 21});
      check_broadcast(c, {3, 5, 21}, {21});
      check_broadcast(c, {3, 5, 21}, {});
      check_broadcast(c, {1}, {3, 5, 21});
      check_broadcast(c, {3, 5, 21}, {5, 1});
      check_broadcast(c, {3, 1, 21}, {5, 1});
    }
  }
}

}  // namespace
}  // namespace taper::optimized
