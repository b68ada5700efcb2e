// index_select against its definition, and what it must refuse.

#include <gtest/gtest.h>

#include <numeric>

#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

template <typename T>
void select(ScalarType type, ScalarType by, const std::vector<int32_t>& sizes, int64_t dim,
            const std::vector<int64_t>& indices) {
  int64_t outer = 1, inner = 1;
  const auto axis = static_cast<size_t>(dim);
  for (size_t d = 0; d < axis; ++d) outer *= sizes[d];
  for (size_t d = axis + 1; d < sizes.size(); ++d) inner *= sizes[d];
  TestTensor x(type, sizes);
  T* numbers = x->mutable_data_ptr<T>();
  std::iota(numbers, numbers + x->numel(), T{0});
  TestTensor index(by, {static_cast<int32_t>(indices.size())});
  if (by == ScalarType::kLong) {
    std::copy(indices.begin(), indices.end(), index->mutable_data_ptr<int64_t>());
  } else {
    std::copy(indices.begin(), indices.end(), index->mutable_data_ptr<int32_t>());
  }
  std::vector<int32_t> selected = sizes;
  selected[axis] = static_cast<int32_t>(indices.size());
  TestTensor y(type, selected);
  test::call_fast("aten::index_select.out",
                  {EValue(&*x), EValue(dim), EValue(&*index), EValue(&*y)});
  const T* next = y->const_data_ptr<T>();
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t i : indices) {
      for (int64_t k = 0; k < inner; ++k) {
        EXPECT_EQ(*next++, numbers[(o * sizes[axis] + i) * inner + k]);
      }
    }
  }
}

TEST(Lookup, IndexSelectAlongEveryDimension) {
  for (const ScalarType by : {ScalarType::kLong, ScalarType::kInt}) {
    for (const int64_t dim : {0, 1, 2}) {
      select<float>(ScalarType::kFloat, by, {4, 3, 5}, dim, {2, 0, 2, 1});
      select<double>(ScalarType::kDouble, by, {3, 4, 3}, dim, {1, 1});
      select<uint8_t>(ScalarType::kByte, by, {5, 3, 6}, dim, {0, 2, 2, 1, 0});
      select<int16_t>(ScalarType::kShort, by, {3, 3, 3}, dim, {2});
    }
    select<float>(ScalarType::kFloat, by, {6}, 0, {5, 0, 3});
    select<float>(ScalarType::kFloat, by, {6, 2}, 1, {});
  }
}

TEST(Lookup, IndicesOutOfRangeAreErrors) {
  TestTensor x(ScalarType::kFloat, {2, 3}), y(ScalarType::kFloat, {2, 2});
  for (const int64_t wrong : {int64_t{3}, int64_t{-1}}) {
    TestTensor index = TestTensor::of<int64_t>(ScalarType::kLong, {2}, {0, wrong});
    EValue slots[] = {EValue(&*x), EValue(int64_t{1}), EValue(&*index), EValue(&*y)};
    EValue* args[] = {&slots[0], &slots[1], &slots[2], &slots[3]};
    KernelContext context;
    EXPECT_FALSE(
        find_kernel(optimized_kernels(), "aten::index_select.out")->run(context, args).ok());
  }
}

}  // namespace
}  // namespace taper::optimized
