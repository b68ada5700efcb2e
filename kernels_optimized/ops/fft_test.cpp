// Fourier transforms against the definition in double, at every level: lengths that are products of
// small primes, large primes, and products of both.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

constexpr double kTwoPi = 6.283185307179586;

// The rounding error of a transform, relative to the largest term.
template <typename T>
constexpr double kTolerance = sizeof(T) == sizeof(float) ? 2e-6 : 4e-15;

class Fft : public test::AtEachLevel {
 protected:
  void call(const char* name, std::initializer_list<EValue> slots) {
    test::call_fast(name, slots, temp_);
  }

  template <typename T>
  TestTensor numbers(ScalarType type, std::vector<int32_t> sizes) {
    TestTensor result(type, std::move(sizes));
    std::uniform_real_distribution<double> range(-1, 1);
    for (int64_t i = 0; i < result->numel(); ++i) {
      result->mutable_data_ptr<T>()[i] = static_cast<T>(range(random_));
    }
    return result;
  }

  template <typename T>
  static TestTensor turns(ScalarType type, int32_t n) {
    TestTensor result(type, {n, 2});
    for (int32_t k = 0; k < n; ++k) {
      result->mutable_data_ptr<T>()[2 * k] = static_cast<T>(std::cos(kTwoPi * k / n));
      result->mutable_data_ptr<T>()[2 * k + 1] = static_cast<T>(std::sin(kTwoPi * k / n));
    }
    return result;
  }

  // Term k of the forward transform of n pairs, by the definition.
  template <typename T>
  static std::pair<double, double> term(const T* pairs, int64_t n, int64_t k) {
    double re = 0, im = 0;
    for (int64_t j = 0; j < n; ++j) {
      const double angle = -kTwoPi * static_cast<double>(j * k % n) / static_cast<double>(n);
      const double c = std::cos(angle), s = std::sin(angle);
      const auto x = static_cast<double>(pairs[2 * j]), y = static_cast<double>(pairs[2 * j + 1]);
      re += x * c - y * s;
      im += x * s + y * c;
    }
    return {re, im};
  }

  template <typename T>
  void check_lines(ScalarType type, int32_t lines, int32_t n) {
    TestTensor x = numbers<T>(type, {lines, n, 2}), y(type, {lines, n, 2});
    TestTensor table = turns<T>(type, n);
    call("taper::fft_c2c.out",
         {EValue(&*x), EValue(&*table), EValue(true), EValue(0.5), EValue(&*y)});
    const double bound = kTolerance<T> * std::sqrt(n) * 3;
    for (const int32_t line : {0, lines / 2, lines - 2, lines - 1}) {
      if (line < 0) continue;
      const int64_t first = int64_t{2} * line * n;
      for (int64_t k = 0; k < n && !HasFailure(); k += 1 + n / 20) {
        const auto [re, im] = term(x->const_data_ptr<T>() + first, n, k);
        const T* got = y->const_data_ptr<T>() + first + 2 * k;
        EXPECT_NEAR(static_cast<double>(got[0]), re / 2, bound) << lines << " x " << n << " " << k;
        EXPECT_NEAR(static_cast<double>(got[1]), im / 2, bound) << lines << " x " << n << " " << k;
      }
    }
  }

  // There and back again, of real numbers.
  template <typename T>
  void check_real(ScalarType type, int32_t lines, int32_t n) {
    TestTensor x = numbers<T>(type, {lines, n}), table = turns<T>(type, n);
    TestTensor terms(type, {lines, n / 2 + 1, 2}), back(type, {lines, n});
    call("taper::fft_r2c.out",
         {EValue(&*x), EValue(&*table), EValue(true), EValue(1.0), EValue(&*terms)});
    call("taper::fft_c2r.out", {EValue(&*terms), EValue(&*table), EValue(1.0 / n), EValue(&*back)});
    for (int64_t i = 0; i < x->numel() && !HasFailure(); ++i) {
      EXPECT_NEAR(static_cast<double>(back->const_data_ptr<T>()[i]),
                  static_cast<double>(x->const_data_ptr<T>()[i]), 4 * kTolerance<T>)
          << lines << " x " << n << " " << i;
    }
  }

  size_t temp_ = size_t{8} << 20;

 private:
  std::mt19937 random_{5};
};

constexpr int32_t kLengths[] = {1, 64, 79, 83, 97 * 4, 263, 2 * 1009, 4099};

// Without vectors the portable kernels run, whose time grows with the square of a prime.
bool is_slow(int32_t n) { return n > 100 && level() == Level::kBaseline; }

TEST_P(Fft, ComplexLines) {
  for (const int32_t n : kLengths) {
    for (const int32_t lines : {1, 3, 13, 17}) {
      if (is_slow(n)) continue;
      check_lines<float>(ScalarType::kFloat, lines, n);
      check_lines<double>(ScalarType::kDouble, lines, n);
    }
  }
  if (!is_slow(101 * 103)) check_lines<float>(ScalarType::kFloat, 2, 101 * 103);
}

TEST_P(Fft, LittleTempMemory) {
  temp_ = size_t{1} << 18;  // Enough for fewer lines at once, and for the definition.
  for (const int32_t n : {1009, 7 * 1009}) {
    if (!is_slow(n)) check_lines<float>(ScalarType::kFloat, 7, n);
  }
}

TEST_P(Fft, RealLinesThereAndBack) {
  for (const int32_t n : kLengths) {
    for (const int32_t lines : {1, 5, 12, 16}) {
      if (is_slow(n)) continue;
      check_real<float>(ScalarType::kFloat, lines, n);
      check_real<double>(ScalarType::kDouble, lines, n);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Fft, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
