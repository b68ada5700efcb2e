// Remainders and rounded quotients are exactly those of the C library, and angles and powers are close
// to them, for numbers of all sizes, multiples of each other and their neighbours, NaN and infinities.
// Logic on bools takes any byte but 0 as true.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::call_fast;
using test::LevelLimit;
using test::TestTensor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Pair {
  float a, b;
};

std::vector<Pair> pairs() {
  const float special[] = {0.0f,  -0.0f, kInfinity, -kInfinity, NAN,  1e-45f, -1e-40f, 1.0f,
                           -1.0f, 0.1f,  3.0f,      -7.5f,      1e7f, 3e38f,  -1e-30f, 16777216.0f};
  std::vector<Pair> all;
  for (const float a : special) {
    for (const float b : special) all.push_back({a, b});
  }
  std::mt19937 random(7);
  std::uniform_real_distribution<float> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(-12, 24), far(-120, 120), times(-3000, 3000);
  for (int i = 0; i < 20000; ++i) {
    const float b = std::ldexp(mantissa(random), exponent(random));
    // Multiples of b, rounded, and the floats beside them: their quotients are nearly whole.
    const float near = b * static_cast<float>(times(random));
    all.push_back({near, b});
    all.push_back({std::nextafter(near, i % 2 != 0 ? kInfinity : -kInfinity), b});
    all.push_back({std::ldexp(mantissa(random), exponent(random)), b});
    all.push_back({std::ldexp(mantissa(random), far(random)), b});
  }
  return all;
}

struct Operands {
  TestTensor a, b, out;
};

Operands operands(const std::vector<Pair>& pairs) {
  const std::vector<int32_t> sizes = {static_cast<int32_t>(pairs.size())};
  Operands made = {TestTensor(ScalarType::kFloat, sizes), TestTensor(ScalarType::kFloat, sizes),
                   TestTensor(ScalarType::kFloat, sizes)};
  for (size_t i = 0; i < pairs.size(); ++i) {
    made.a->mutable_data_ptr<float>()[i] = pairs[i].a;
    made.b->mutable_data_ptr<float>()[i] = pairs[i].b;
  }
  return made;
}

float remainder_of(float a, float b) {
  const float rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
// The quotient of two floats has no whole number within 2^-24, unless it is one.
float floor_of(float a, float b) {
  const long double ratio = static_cast<long double>(a) / static_cast<long double>(b);
  return std::isfinite(b) || ratio == 0 ? static_cast<float>(std::floor(ratio)) : NAN;
}
float trunc_of(float a, float b) { return std::trunc(a / b); }

void expect_same(float got, float want, const Pair& pair, const char* name) {
  const bool both_nan = std::isnan(got) && std::isnan(want);
  EXPECT_TRUE(both_nan || (got == want && std::signbit(got) == std::signbit(want)))
      << name << " of " << pair.a << " and " << pair.b << " is " << got << ", not " << want;
}

struct Case {
  const char* name;
  float (*want)(float, float);
  const char* mode = nullptr;
};

TEST(Quotients, AreExact) {
  const Case cases[] = {
      {"aten::fmod.Tensor_out", [](float a, float b) { return std::fmod(a, b); }},
      {"aten::remainder.Tensor_out", remainder_of},
      {"aten::div.out_mode", trunc_of, "trunc"},
      {"aten::div.out_mode", floor_of, "floor"},
      {"aten::floor_divide.out", floor_of},
  };
  const std::vector<Pair> all = pairs();
  auto [a, b, out] = operands(all);
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    for (const Case& c : cases) {
      if (c.mode != nullptr) {
        call_fast(c.name, {EValue(&*a), EValue(&*b), EValue(c.mode, 5), EValue(&*out)});
      } else {
        call_fast(c.name, {EValue(&*a), EValue(&*b), EValue(&*out)});
      }
      const bool is_floor = c.want == floor_of;
      for (size_t i = 0; i < all.size() && !HasFailure(); ++i) {
        const float want = c.want(all[i].a, all[i].b), got = out->const_data_ptr<float>()[i];
        // PyTorch's formula for larger quotients, infinities and zeros is the portable kernel's.
        if (is_floor && !(std::fabs(want) < 1048576 && want != 0)) continue;
        if (is_floor && !(std::isfinite(all[i].a) && std::isfinite(all[i].b))) continue;
        expect_same(got, want, all[i], c.name);
      }
    }
  }
}

TEST(Quotients, AreThoseOfThePortableKernels) {
  const std::vector<Pair> all = pairs();
  auto [a, b, out] = operands(all);
  TestTensor portable(ScalarType::kFloat, {static_cast<int32_t>(all.size())});
  {
    const LevelLimit limit(Level::kBaseline);
    call_fast("aten::floor_divide.out", {EValue(&*a), EValue(&*b), EValue(&*portable)});
  }
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    call_fast("aten::floor_divide.out", {EValue(&*a), EValue(&*b), EValue(&*out)});
    for (size_t i = 0; i < all.size() && !HasFailure(); ++i) {
      expect_same(out->const_data_ptr<float>()[i], portable->const_data_ptr<float>()[i], all[i],
                  "floor_divide");
    }
  }
}

TEST(Quotients, AnglesAreThoseOfTheCLibrary) {
  std::vector<Pair> all = pairs();
  all.resize(20001);  // With a tail.
  auto [y, x, out] = operands(all);
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    call_fast("aten::atan2.out", {EValue(&*y), EValue(&*x), EValue(&*out)});
    for (size_t i = 0; i < all.size() && !HasFailure(); ++i) {
      const double want = std::atan2(static_cast<double>(all[i].a), static_cast<double>(all[i].b));
      const auto got = static_cast<double>(out->const_data_ptr<float>()[i]);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got)) << all[i].a << " " << all[i].b;
        continue;
      }
      EXPECT_NEAR(got, want, 4e-7 * std::fabs(want) + 1e-44) << all[i].a << " " << all[i].b;
      EXPECT_EQ(std::signbit(got), std::signbit(want)) << all[i].a << " " << all[i].b;
    }
  }
}

// Powers of every size: those of special numbers, and of others whose logarithms to base 2 lie between
// -155 and 155; half of the exponents are whole numbers.
std::vector<Pair> powers() {
  std::vector<Pair> all = pairs();
  all.resize(16 * 16);
  std::mt19937 random(11);
  std::uniform_real_distribution<float> mantissa(1, 2), log(-155, 155);
  std::uniform_int_distribution<int> exponent(-140, 127), near(-1, 0);
  for (int i = 0; i < 20000; ++i) {
    float a = std::ldexp(mantissa(random), i % 4 == 0 ? near(random) : exponent(random));
    if (i % 3 == 0) a = -a;
    const float b = log(random) / std::log2(std::fabs(a));
    all.push_back({a, i % 2 == 0 ? std::round(b) : b});
  }
  return all;
}

void expect_power(float got, const Pair& pair) {
  const double want = std::pow(static_cast<double>(pair.a), static_cast<double>(pair.b));
  const auto rounded = static_cast<float>(want);
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << pair.a << " " << pair.b << " " << got;
    return;
  }
  if (!std::isfinite(rounded) || want == 0) {
    EXPECT_EQ(got, rounded) << pair.a << " " << pair.b;
  } else {
    EXPECT_NEAR(static_cast<double>(got), want, 5e-7 * std::fabs(want) + 1.5e-45)
        << pair.a << " " << pair.b;
  }
  EXPECT_EQ(std::signbit(got), std::signbit(want)) << pair.a << " " << pair.b;
}

TEST(Powers, AreThoseOfTheCLibrary) {
  const std::vector<Pair> all = powers();
  auto [a, b, out] = operands(all);
  const float* powers = out->const_data_ptr<float>();
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    call_fast("aten::pow.Tensor_Tensor_out", {EValue(&*a), EValue(&*b), EValue(&*out)});
    for (size_t i = 0; i < all.size() && !HasFailure(); ++i) expect_power(powers[i], all[i]);
    for (const double number : {-1.0, -0.25, 0.0, 0.75, 1.0, 4.0, 5.0, 37.5}) {
      call_fast("aten::pow.Tensor_Scalar_out", {EValue(&*a), EValue(number), EValue(&*out)});
      for (size_t i = 0; i < all.size() && !HasFailure(); ++i) {
        expect_power(powers[i], {all[i].a, static_cast<float>(number)});
      }
    }
    for (const double number : {-2.0, 0.0, 0.5, 1.0, 2.0, 1e30}) {
      call_fast("aten::pow.Scalar_out", {EValue(number), EValue(&*b), EValue(&*out)});
      for (size_t i = 0; i < all.size() && !HasFailure(); ++i) {
        expect_power(powers[i], {static_cast<float>(number), all[i].b});
      }
    }
  }
}

// Scales of formats of few bits are powers of two, and scaling with them must not round.
TEST(Powers, OfTwoAreExact) {
  constexpr int32_t kCount = 149 + 128;
  TestTensor exponents(ScalarType::kFloat, {kCount}), twos(ScalarType::kFloat, {kCount}),
      out(ScalarType::kFloat, {kCount});
  for (int32_t i = 0; i < kCount; ++i) {
    exponents->mutable_data_ptr<float>()[i] = static_cast<float>(i - 149);
    twos->mutable_data_ptr<float>()[i] = 2;
  }
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    for (const bool of_number : {true, false}) {
      if (of_number) {
        call_fast("aten::pow.Scalar_out", {EValue(2.0), EValue(&*exponents), EValue(&*out)});
      } else {
        call_fast("aten::pow.Tensor_Tensor_out",
                  {EValue(&*twos), EValue(&*exponents), EValue(&*out)});
      }
      for (int32_t i = 0; i < kCount; ++i) {
        EXPECT_EQ(out->const_data_ptr<float>()[i], std::ldexp(1.0f, i - 149)) << i - 149;
      }
    }
  }
}

TEST(Logic, OnBytes) {
  constexpr int32_t kCount = 77;
  TestTensor a(ScalarType::kBool, {3, kCount}), b(ScalarType::kBool, {3, kCount}),
      row(ScalarType::kBool, {kCount}), column(ScalarType::kBool, {3, 1}),
      out(ScalarType::kBool, {3, kCount});
  const auto fill = [](TestTensor& t, int period) {
    auto* bytes = static_cast<uint8_t*>(t->mutable_data());
    for (int64_t i = 0; i < t->numel(); ++i) {
      bytes[i] = static_cast<uint8_t>(i % period == 0 ? 0 : i % 3 + 1);
    }
  };
  fill(a, 2), fill(b, 5), fill(row, 4), fill(column, 2);
  const auto bytes = [](TestTensor& t) { return static_cast<const uint8_t*>(t->const_data()); };
  for (TestTensor* other : {&b, &row, &column}) {
    const auto at = [&](int32_t i, int32_t j) {
      return bytes(*other)[other == &b ? i * kCount + j : other == &row ? j : i] != 0;
    };
    struct {
      const char* name;
      bool (*want)(bool, bool);
    } cases[] = {{"and", [](bool x, bool y) { return x && y; }},
                 {"or", [](bool x, bool y) { return x || y; }},
                 {"xor", [](bool x, bool y) { return x != y; }}};
    for (const auto& c : cases) {
      for (const std::string& name : {std::string("aten::logical_") + c.name + ".out",
                                      std::string("aten::bitwise_") + c.name + ".Tensor_out"}) {
        call_fast(name.c_str(), {EValue(&*a), EValue(&**other), EValue(&*out)});
        for (int32_t i = 0; i < 3; ++i) {
          for (int32_t j = 0; j < kCount; ++j) {
            const bool x = bytes(a)[i * kCount + j] != 0;
            EXPECT_EQ(bytes(out)[i * kCount + j], c.want(x, at(i, j)) ? 1 : 0) << name;
          }
        }
      }
    }
  }
  for (const char* name : {"aten::logical_not.out", "aten::bitwise_not.out"}) {
    call_fast(name, {EValue(&*a), EValue(&*out)});
    for (int32_t i = 0; i < 3 * kCount; ++i) EXPECT_EQ(bytes(out)[i], bytes(a)[i] == 0 ? 1 : 0);
  }
}

}  // namespace
}  // namespace taper::optimized
