// Sums, means, products, extremes and topk against plain loops, at every level: lines along and
// across memory, tails, NaN, equal elements.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "kernels_optimized/dispatch.h"
#include "kernels_optimized/kernel_table.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

class Folds : public testing::TestWithParam<Level> {
 protected:
  Folds() { limit_level(GetParam()); }
  ~Folds() override { limit_level(Level::kAvx512); }

  static void call(const char* name, std::vector<EValue> slots) {
    std::vector<EValue*> args;
    for (EValue& slot : slots) args.push_back(&slot);
    KernelContext context;
    ASSERT_TRUE(find_kernel(optimized_kernels(), name)->run(context, args.data()).ok()) << name;
  }

  TestTensor numbers(std::vector<int32_t> sizes) {
    TestTensor result(ScalarType::kFloat, std::move(sizes));
    std::uniform_real_distribution<float> range(-1, 2);
    for (int64_t i = 0; i < result->numel(); ++i) {
      result->mutable_data_ptr<float>()[i] = range(random_);
    }
    return result;
  }

  std::mt19937 random_{17};
};

TEST_P(Folds, TheFirstOfTheMostExtremeAcrossMemory) {
  for (const int32_t inner : {2, 3, 16, 45, 130}) {
    SCOPED_TRACE(inner);
    TestTensor x = numbers({2, 21, inner});
    float* data = x->mutable_data_ptr<float>();
    for (int64_t i = 0; i < x->numel(); ++i) data[i] = std::round(data[i] * 2);  // Many are equal.
    data[3 * inner + 1] = data[9 * inner + 1] = NAN;
    data[0] = INFINITY;
    data[inner] = -INFINITY;
    TestTensor values(ScalarType::kFloat, {2, inner}), at(ScalarType::kLong, {2, inner}),
        only(ScalarType::kLong, {2, inner});
    for (const bool is_max : {true, false}) {
      call(is_max ? "aten::max.dim_max" : "aten::min.dim_min",
           {EValue(&*x), EValue(int64_t{1}), EValue(false), EValue(&*values), EValue(&*at)});
      call(is_max ? "aten::argmax.out" : "aten::argmin.out",
           {EValue(&*x), EValue(int64_t{1}), EValue(false), EValue(&*only)});
      EXPECT_EQ(at.values<int64_t>(), only.values<int64_t>());
      for (int64_t line = 0; line < 2 * inner; ++line) {
        const float* first = data + line / inner * 21 * inner + line % inner;
        int64_t best = 0;
        for (int64_t i = 1; i < 21; ++i) {
          const float a = first[best * inner], b = first[i * inner];
          if (a == a && (b != b || (is_max ? b > a : b < a))) best = i;
        }
        EXPECT_EQ(at.values<int64_t>()[static_cast<size_t>(line)], best);
        const float got = values.values<float>()[static_cast<size_t>(line)];
        EXPECT_TRUE(got == first[best * inner] || (got != got && first[best * inner] != got));
      }
    }
  }
}

TEST_P(Folds, TheMiddleOfThree) {
  EValue dim(int64_t{1});
  EValue* items[] = {&dim};
  int64_t unboxed[1];
  BoxedIntList dims = {items, unboxed};
  for (const int32_t size : {1, 7, 64, 150, 9000}) {
    for (const int32_t inner : {1, 3, 16, 45}) {
      SCOPED_TRACE(testing::Message() << size << " x " << inner);
      TestTensor x = numbers({2, size, inner});
      if (size == 150) x->mutable_data_ptr<float>()[70 * inner] = NAN;
      TestTensor out[] = {
          TestTensor(ScalarType::kFloat, {2, inner}), TestTensor(ScalarType::kFloat, {2, inner}),
          TestTensor(ScalarType::kFloat, {2, inner}), TestTensor(ScalarType::kFloat, {2, inner}),
          TestTensor(ScalarType::kFloat, {2, inner})};
      const EValue self(&*x), over(&dims, 1), no(false), none;
      call("aten::sum.IntList_out", {self, over, no, none, EValue(&*out[0])});
      call("aten::mean.out", {self, over, no, none, EValue(&*out[1])});
      call("aten::amax.out", {self, over, no, EValue(&*out[2])});
      call("aten::amin.out", {self, over, no, EValue(&*out[3])});
      call("aten::prod.int_out", {self, dim, no, none, EValue(&*out[4])});
      for (int64_t line = 0; line < 2 * inner && !HasFailure(); ++line) {
        const float* first =
            x->const_data_ptr<float>() + line / inner * size * inner + line % inner;
        double sum = 0, most = -10, least = 10, product = 1;
        for (int64_t i = 0; i < size; ++i) {
          const double value = static_cast<double>(first[i * inner]);
          sum += value;
          product *= value;
          most = std::max(most, value);
          least = std::min(least, value);
        }
        const bool spoiled = std::isnan(sum);
        const double want[] = {sum, sum / size, most, least, product};
        for (int k = 0; k < 5; ++k) {
          const double got = static_cast<double>(out[k]->const_data_ptr<float>()[line]);
          if (spoiled) {
            EXPECT_TRUE(std::isnan(got)) << k;
          } else {
            EXPECT_NEAR(got, want[k], 1e-6 * (1 + std::fabs(want[k]))) << k;
          }
        }
      }
    }
  }
}

TEST_P(Folds, TopkKeepsTheOrderOfEqualElements) {
  for (const int64_t k : {1, 5, 33, 64}) {
    for (const bool largest : {false, true}) {
      for (const int32_t length : {64, 100, 3001}) {
        TestTensor x(ScalarType::kFloat, {2, length});
        float* data = x->mutable_data_ptr<float>();
        for (int32_t i = 0; i < 2 * length; ++i) {
          data[i] = random_() % 40 == 0 ? NAN : static_cast<float>(random_() % 50);
        }
        TestTensor values(ScalarType::kFloat, {2, static_cast<int32_t>(k)});
        TestTensor indices(ScalarType::kLong, {2, static_cast<int32_t>(k)});
        call("aten::topk.values", {EValue(&*x), EValue(k), EValue(int64_t{-1}), EValue(largest),
                                   EValue(true), EValue(&*values), EValue(&*indices)});
        for (int64_t row = 0; row < 2; ++row, data += length) {
          std::vector<int64_t> order(static_cast<size_t>(length));
          std::iota(order.begin(), order.end(), int64_t{0});
          const auto less = [](float a, float b) { return a < b || (b != b && a == a); };
          std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
            return largest ? less(data[b], data[a]) : less(data[a], data[b]);
          });
          for (int64_t i = 0; i < k; ++i) {
            ASSERT_EQ(indices->const_data_ptr<int64_t>()[row * k + i],
                      order[static_cast<size_t>(i)])
                << length << " " << i;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Folds,
                         testing::Values(Level::kBaseline, Level::kAvx2, Level::kAvx512));

}  // namespace
}  // namespace taper::optimized
