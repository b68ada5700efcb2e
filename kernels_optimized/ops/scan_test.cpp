// cumsum, cumprod, cummax and cummin against the portable kernels, which they must equal bit by bit
// but for NaN, at every level: lines along and across memory, tails, equal elements, NaN, infinities.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels_portable/kernel_table.h"
#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

class Scans : public test::AtEachLevel {
 protected:
  static void call(KernelTable table, const char* name, std::vector<EValue> slots) {
    std::vector<EValue*> args;
    for (EValue& slot : slots) args.push_back(&slot);
    KernelContext context;
    ASSERT_TRUE(find_kernel(table, name)->run(context, args.data()).ok()) << name;
  }

  // Numbers of which many are equal; `special` of a thousand are NaN or infinities.
  TestTensor numbers(const std::vector<int32_t>& sizes, unsigned special) {
    TestTensor result(ScalarType::kFloat, sizes);
    const float others[] = {NAN, INFINITY, -INFINITY, -0.0f};
    for (int64_t i = 0; i < result->numel(); ++i) {
      const float number = static_cast<float>(static_cast<int>(random_() % 41) - 20) / 8;
      result->mutable_data_ptr<float>()[i] =
          random_() % 1000 < special ? others[random_() % 4] : number;
    }
    return result;
  }

  // NaN may be any: its sign depends on which of two operands comes first.
  static bool same(TestTensor& a, TestTensor& b) {
    const float *x = a->const_data_ptr<float>(), *y = b->const_data_ptr<float>();
    for (int64_t i = 0; i < a->numel(); ++i) {
      const bool are_nan = std::isnan(x[i]) && std::isnan(y[i]);
      const bool are_equal = x[i] == y[i] && std::signbit(x[i]) == std::signbit(y[i]);
      if (!are_nan && !are_equal) return false;
    }
    return true;
  }

  std::mt19937 random_{5};
};

TEST_P(Scans, EqualThePortableKernels) {
  for (const int32_t inner : {1, 3, 8, 21, 77, 130}) {
    for (const int32_t size : {1, 5, 16, 67, 300}) {
      for (const unsigned special : {0u, 20u}) {
        SCOPED_TRACE(testing::Message() << size << " x " << inner << " " << special);
        const std::vector<int32_t> sizes = {2, size, inner};
        TestTensor x = numbers(sizes, special);
        TestTensor values[] = {{ScalarType::kFloat, sizes}, {ScalarType::kFloat, sizes}};
        TestTensor at[] = {{ScalarType::kLong, sizes}, {ScalarType::kLong, sizes}};
        const EValue self(&*x), dim(int64_t{1});
        const KernelTable tables[] = {portable::portable_kernels(), optimized_kernels()};
        for (size_t k : {0, 1}) {
          call(tables[k], "aten::cumsum.out", {self, dim, EValue(), EValue(&*values[k])});
        }
        EXPECT_TRUE(same(values[0], values[1]));
        for (size_t k : {0, 1}) {
          call(tables[k], "taper::cumprod.out", {self, dim, EValue(&*values[k])});
        }
        EXPECT_TRUE(same(values[0], values[1]));
        for (const char* name : {"taper::cummax.out", "taper::cummin.out"}) {
          for (size_t k : {0, 1}) {
            call(tables[k], name, {self, dim, EValue(&*values[k]), EValue(&*at[k])});
          }
          EXPECT_TRUE(same(values[0], values[1])) << name;
          EXPECT_EQ(at[0].values<int64_t>(), at[1].values<int64_t>()) << name;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Scans, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
