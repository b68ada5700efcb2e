// Reductions, sort and topk against plain loops, at every level: lines along and across memory,
// tails, NaN, equal elements.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "kernels_optimized/kernel_table.h"
#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

class Folds : public test::AtEachLevel {
 protected:
  static void call(const char* name, std::vector<EValue> slots) {
    std::vector<EValue*> args;
    for (EValue& slot : slots) args.push_back(&slot);
    alignas(64) static unsigned char memory[1 << 17];
    KernelContext context({memory, sizeof(memory)});
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

// Rows of `size` numbers, `inner` apart, among them equal ones, both zeros, NaN and infinities.
TEST_P(Folds, SortedRowsAreStable) {
  for (const int32_t size : {1, 2, 3, 31, 48, 100, 128, 259, 512, 1000}) {
    for (const int32_t inner : {1, 3, 6}) {
      SCOPED_TRACE(testing::Message() << size << " x " << inner);
      TestTensor x = numbers({2, size, inner});
      float* data = x->mutable_data_ptr<float>();
      const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 0.5f, NAN};
      for (int64_t i = 0; i < x->numel(); i += 2) data[i] = special[i / 2 % 7];
      TestTensor y(ScalarType::kFloat, {2, size, inner}), at(ScalarType::kLong, {2, size, inner}),
          only(ScalarType::kLong, {2, size, inner});
      for (const bool descending : {false, true}) {
        const EValue self(&*x), dim(int64_t{1}), order(descending), yes(true);
        call("aten::sort.values_stable", {self, yes, dim, order, EValue(&*y), EValue(&*at)});
        call("aten::argsort.stable_out", {self, yes, dim, order, EValue(&*only)});
        EXPECT_EQ(at.values<int64_t>(), only.values<int64_t>());
        for (int64_t line = 0; line < 2 * inner; ++line) {
          const int64_t first = line / inner * size * inner + line % inner;
          std::vector<int64_t> want(static_cast<size_t>(size));
          std::iota(want.begin(), want.end(), int64_t{0});
          std::stable_sort(want.begin(), want.end(), [&](int64_t i, int64_t j) {
            const float a = data[first + i * inner], b = data[first + j * inner];
            return descending ? b < a || (a != a && b == b) : a < b || (b != b && a == a);
          });
          for (int64_t i = 0; i < size; ++i) {
            const auto place = static_cast<size_t>(first + i * inner);
            const int64_t from = want[static_cast<size_t>(i)];
            ASSERT_EQ(at.values<int64_t>()[place], from);
            const float value = data[first + from * inner], got = y.values<float>()[place];
            ASSERT_TRUE(got == value || (got != got && value != value));
          }
        }
      }
    }
  }
}

TEST_P(Folds, DistancesOfAllPairs) {
  for (const int32_t n : {1, 16, 77, 200}) {
    for (const int32_t k : {1, 3, 65}) {
      TestTensor a = numbers({2, 5, k}), b = numbers({2, n, k});
      TestTensor out(ScalarType::kFloat, {2, 5, n});
      call("aten::_cdist_forward.out",
           {EValue(&*a), EValue(&*b), EValue(2.0), EValue(), EValue(&*out)});
      for (int64_t i = 0; i < out->numel(); ++i) {
        const float* x = a->const_data_ptr<float>() + i / n * k;
        const float* y = b->const_data_ptr<float>() + (i / (5 * n) * n + i % n) * k;
        double sum = 0;
        for (int64_t j = 0; j < k; ++j) sum += std::pow(static_cast<double>(x[j] - y[j]), 2);
        ASSERT_NEAR(out.values<float>()[static_cast<size_t>(i)], std::sqrt(sum), 1e-5);
      }
    }
  }
}

TEST_P(Folds, IntegersOfAnySizeAreSorted) {
  for (const int64_t most : {int64_t{1000}, int64_t{1} << 40}) {
    TestTensor x(ScalarType::kLong, {100}), y(ScalarType::kLong, {100}),
        at(ScalarType::kLong, {100});
    std::vector<int64_t> want(100);
    for (size_t i = 0; i < 100; ++i) {
      want[i] = (static_cast<int64_t>(i) * 7919 % 101 - 50) * (most / 50);
      x->mutable_data_ptr<int64_t>()[i] = want[i];
    }
    std::sort(want.begin(), want.end());
    call("aten::sort.values",
         {EValue(&*x), EValue(int64_t{0}), EValue(false), EValue(&*y), EValue(&*at)});
    EXPECT_EQ(y.values<int64_t>(), want);
  }
}

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

TEST_P(Folds, TheFirstOfTheMostExtremeAlongMemory) {
  constexpr int32_t kLines = 40;
  const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f};
  for (const int32_t size : {1, 2, 7, 8, 9, 16, 17, 63, 64, 150, 1000}) {
    for (const bool is_max : {true, false}) {
      SCOPED_TRACE(testing::Message() << size << " " << is_max);
      TestTensor x = numbers({kLines, size});
      float* data = x->mutable_data_ptr<float>();
      for (int64_t i = 0; i < x->numel(); ++i) {
        data[i] = std::round(data[i] * 2);  // Many are equal.
        if (random_() % (3 * static_cast<unsigned>(size)) == 0) data[i] = special[random_() % 5];
      }
      TestTensor values(ScalarType::kFloat, {kLines}), at(ScalarType::kLong, {kLines});
      call(is_max ? "aten::max.dim_max" : "aten::min.dim_min",
           {EValue(&*x), EValue(int64_t{1}), EValue(false), EValue(&*values), EValue(&*at)});
      for (int64_t line = 0; line < kLines; ++line) {
        const float* first = data + line * size;
        int64_t best = 0;
        for (int64_t i = 1; i < size; ++i) {
          const float a = first[best], b = first[i];
          if (a == a && (b != b || (is_max ? b > a : b < a))) best = i;
        }
        ASSERT_EQ(at.values<int64_t>()[static_cast<size_t>(line)], best);
        const float found = values->const_data_ptr<float>()[line], right = first[best];
        EXPECT_TRUE(std::isnan(right)
                        ? std::isnan(found)
                        : found == right && std::signbit(found) == std::signbit(right));
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

TEST_P(Folds, TwoGroupsOfDims) {
  for (const int32_t inner : {1, 3, 16, 45}) {
    constexpr int32_t kOuter = 3, kSize = 5, kBetween = 4, kLine = 70;
    TestTensor x = numbers({kOuter, kSize, kBetween, kLine, inner});
    x->mutable_data_ptr<float>()[2 * inner] = NAN;
    EValue first(int64_t{1}), second(int64_t{3});
    EValue* items[] = {&first, &second};
    int64_t unboxed[2];
    BoxedIntList dims = {items, unboxed};
    const std::vector<int32_t> sizes = {kOuter, kBetween, inner};
    TestTensor sum(ScalarType::kFloat, sizes), mean(ScalarType::kFloat, sizes);
    TestTensor most(ScalarType::kFloat, sizes), least(ScalarType::kFloat, sizes);
    const EValue list(&dims, 2), none, no(false);
    call("aten::sum.IntList_out", {EValue(&*x), list, no, none, EValue(&*sum)});
    call("aten::mean.out", {EValue(&*x), list, no, none, EValue(&*mean)});
    call("aten::amax.out", {EValue(&*x), list, no, EValue(&*most)});
    call("aten::amin.out", {EValue(&*x), list, no, EValue(&*least)});
    for (int32_t line = 0; line < kOuter * kBetween * inner; ++line) {
      const int32_t o = line / (kBetween * inner), b = line / inner % kBetween, i = line % inner;
      double total = 0, high = -INFINITY, low = INFINITY;
      for (int32_t k = 0; k < kSize * kLine; ++k) {
        const int32_t row = (o * kSize + k / kLine) * kBetween + b;
        const double value = x->const_data_ptr<float>()[(row * kLine + k % kLine) * inner + i];
        total += value;
        high = value > high || value != value ? value : high;  // NaN stays.
        low = value < low || value != value ? value : low;
      }
      const auto at = static_cast<size_t>(line);
      if (total != total) {
        for (const TestTensor* result : {&sum, &mean, &most, &least}) {
          EXPECT_TRUE(std::isnan(result->values<float>()[at])) << line;
        }
        continue;
      }
      EXPECT_NEAR(sum.values<float>()[at], total, 1e-4) << line;
      EXPECT_NEAR(mean.values<float>()[at], total / (kSize * kLine), 1e-6) << line;
      EXPECT_EQ(most.values<float>()[at], high) << line;
      EXPECT_EQ(least.values<float>()[at], low) << line;
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

INSTANTIATE_TEST_SUITE_P(Levels, Folds, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
