// permute_copy and its kin against their definition, at every level: matrices with tails, planes, and
// dimensions that stay together.

#include <gtest/gtest.h>

#include <numeric>

#include "test/support/call_fast.h"
#include "test/support/int_list.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

class Permute : public test::AtEachLevel {
 protected:
  static void check(TestTensor& x, TestTensor& y, const std::vector<int64_t>& order) {
    const int64_t rank = x->dim();
    for (int64_t i = 0; i < y->numel(); ++i) {
      int64_t from = 0;
      for (int64_t d = rank, rest = i; d-- > 0;) {
        const auto at = static_cast<size_t>(order[static_cast<size_t>(d)]);
        from += rest % y->size(d) * x->strides()[at];
        rest /= y->size(d);
      }
      ASSERT_EQ(y->const_data_ptr<int32_t>()[i], x->const_data_ptr<int32_t>()[from])
          << testing::PrintToString(order) << " at " << i;
    }
  }
  static TestTensor counted(const std::vector<int32_t>& sizes) {
    TestTensor x(ScalarType::kInt, sizes);
    std::iota(x->mutable_data_ptr<int32_t>(), x->mutable_data_ptr<int32_t>() + x->numel(), 1);
    return x;
  }
  static TestTensor permuted(TestTensor& x, const std::vector<int64_t>& order) {
    std::vector<int32_t> sizes;
    for (const int64_t d : order) sizes.push_back(static_cast<int32_t>(x->size(d)));
    return TestTensor(ScalarType::kInt, sizes);
  }
};

TEST_P(Permute, EveryOrder) {
  for (const std::vector<int32_t>& sizes : {std::vector<int32_t>{16, 24},
                                            {3, 5},
                                            {17, 300},
                                            {33, 9},
                                            {2, 19, 8},
                                            {9, 1, 21},
                                            {4, 3, 18, 7},
                                            {2, 3, 4, 5, 9},
                                            {1, 1, 7}}) {
    TestTensor x = counted(sizes);
    std::vector<int64_t> order(sizes.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    do {
      TestTensor y = permuted(x, order);
      test::Ints dims(order);
      test::call_fast("aten::permute_copy.out", {EValue(&*x), dims.value(), EValue(&*y)});
      check(x, y, order);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_P(Permute, TwoDimensions) {
  TestTensor x = counted({5, 12, 19});
  TestTensor y = permuted(x, {2, 1, 0});
  test::call_fast("aten::transpose_copy.int_out",
                  {EValue(&*x), EValue(int64_t{-1}), EValue(int64_t{0}), EValue(&*y)});
  check(x, y, {2, 1, 0});
  TestTensor m = counted({13, 22});
  TestTensor t = permuted(m, {1, 0});
  test::call_fast("aten::t_copy.out", {EValue(&*m), EValue(&*t)});
  check(m, t, {1, 0});
}

INSTANTIATE_TEST_SUITE_P(Levels, Permute, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
