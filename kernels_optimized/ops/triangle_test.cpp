// tril and triu keep the elements on their side of the diagonal, wherever it is.

#include <gtest/gtest.h>

#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::call_fast;
using test::TestTensor;

void check(const std::vector<int32_t>& sizes, int64_t diagonal, bool in_place) {
  const int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
  for (const bool lower : {true, false}) {
    TestTensor self(ScalarType::kShort, sizes), result(ScalarType::kShort, sizes);
    for (int64_t i = 0; i < self->numel(); ++i) {
      self->mutable_data_ptr<int16_t>()[i] = static_cast<int16_t>(i + 1);
    }
    TestTensor& out = in_place ? self : result;
    call_fast(lower ? "aten::tril.out" : "aten::triu.out",
              {EValue(&*self), EValue(diagonal), EValue(&*out)});
    for (int64_t i = 0; i < self->numel(); ++i) {
      const int64_t row = i / columns % rows, distance = i % columns - row;
      const bool kept = lower ? distance <= diagonal : distance >= diagonal;
      EXPECT_EQ(out->const_data_ptr<int16_t>()[i], kept ? i + 1 : 0) << i << ", " << diagonal;
    }
  }
}

TEST(Triangle, KeepsOneSideOfTheDiagonal) {
  for (const int64_t diagonal : {INT64_MIN, int64_t{-9}, int64_t{-7}, int64_t{-2}, int64_t{0},
                                 int64_t{1}, int64_t{4}, int64_t{9}, INT64_MAX}) {
    for (const bool in_place : {false, true}) {
      check({7, 4}, diagonal, in_place);
      check({2, 3, 4, 7}, diagonal, in_place);
      check({1, 1}, diagonal, in_place);
      check({3, 0}, diagonal, in_place);
    }
  }
}

}  // namespace
}  // namespace taper::optimized
