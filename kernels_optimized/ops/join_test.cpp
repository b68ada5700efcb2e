// cat against its definition: single numbers, and pieces of every length up to those that are copied
// by memcpy.

#include <gtest/gtest.h>

#include <numeric>

#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

// Joins two tensors [rows, first] and [rows, second] and one of size [0].
void join(int32_t rows, int32_t first, int32_t second) {
  TestTensor a(ScalarType::kByte, {rows, first}), b(ScalarType::kByte, {rows, second});
  std::iota(a->mutable_data_ptr<uint8_t>(), a->mutable_data_ptr<uint8_t>() + a->numel(), 1);
  std::iota(b->mutable_data_ptr<uint8_t>(), b->mutable_data_ptr<uint8_t>() + b->numel(), 101);
  TestTensor none(ScalarType::kByte, {0}), y(ScalarType::kByte, {rows, first + second});
  EValue values[] = {EValue(&*a), EValue(&*none), EValue(&*b)};
  EValue* slots[] = {&values[0], &values[1], &values[2]};
  Tensor* unboxed[3] = {};
  BoxedTensorList list = {slots, unboxed};
  test::call_fast("aten::cat.out",
                  {EValue(&list, 3, Tag::kTensorList), EValue(int64_t{-1}), EValue(&*y)});
  for (int32_t row = 0; row < rows; ++row) {
    for (int32_t i = 0; i < first + second; ++i) {
      const uint8_t expected = i < first ? a->const_data_ptr<uint8_t>()[row * first + i]
                                         : b->const_data_ptr<uint8_t>()[row * second + i - first];
      ASSERT_EQ(y->const_data_ptr<uint8_t>()[row * (first + second) + i], expected)
          << first << " and " << second << " at " << row << ", " << i;
    }
  }
}

// The numbers of `parts` tensors of one column, side by side.
template <typename T>
void stack(ScalarType type, int32_t rows, size_t parts) {
  std::vector<TestTensor> columns;
  for (size_t part = 0; part < parts; ++part) {
    columns.emplace_back(type, std::vector<int32_t>{rows, 1});
    T* to = columns.back()->mutable_data_ptr<T>();
    for (int32_t row = 0; row < rows; ++row) {
      const int32_t number = 3 * row + 50 * static_cast<int32_t>(part);
      to[row] = static_cast<T>(number);
    }
  }
  TestTensor y(type, {rows, static_cast<int32_t>(parts)});
  std::vector<EValue> values;
  std::vector<EValue*> slots;
  for (TestTensor& column : columns) values.emplace_back(&*column);
  for (EValue& value : values) slots.push_back(&value);
  std::vector<Tensor*> unboxed(parts);
  BoxedTensorList list = {slots.data(), unboxed.data()};
  test::call_fast("aten::cat.out", {EValue(&list, static_cast<int32_t>(parts), Tag::kTensorList),
                                    EValue(int64_t{1}), EValue(&*y)});
  for (int32_t row = 0; row < rows; ++row) {
    for (size_t part = 0; part < parts; ++part) {
      ASSERT_EQ(y->const_data_ptr<T>()[static_cast<size_t>(row) * parts + part],
                columns[part]->const_data_ptr<T>()[row])
          << rows << " x " << parts << " at " << row << ", " << part;
    }
  }
}

TEST(Join, ColumnsOfNumbers) {
  for (const int32_t rows : {1, 7, 64, 1001}) {
    for (const size_t parts : {size_t{2}, size_t{3}, size_t{5}}) {
      stack<int8_t>(ScalarType::kChar, rows, parts);
      stack<int16_t>(ScalarType::kShort, rows, parts);
      stack<float>(ScalarType::kFloat, rows, parts);
      stack<int64_t>(ScalarType::kLong, rows, parts);
    }
  }
}

TEST(Join, PiecesOfEveryLength) {
  for (int32_t length = 0; length <= 130; ++length) {
    join(3, length, 5);
    join(2, 1, length);
  }
}

}  // namespace
}  // namespace taper::optimized
