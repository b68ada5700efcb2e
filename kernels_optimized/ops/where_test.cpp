// where against its definition, at every level: elements of every size, tails, and each operand a
// tensor, a row, a column or a number.

#include <gtest/gtest.h>

#include <string>

#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::call_fast;
using test::LevelLimit;
using test::TestTensor;
using Sizes = std::vector<int32_t>;

constexpr int32_t kRows = 5, kColumns = 2077;

TestTensor bytes_of(ScalarType type, const Sizes& sizes, unsigned step) {
  TestTensor result(type, sizes);
  auto* to = static_cast<unsigned char*>(result->mutable_data());
  const size_t bytes = static_cast<size_t>(result->numel()) * element_size(type);
  for (size_t i = 0; i < bytes; ++i) to[i] = static_cast<unsigned char>(i * step % 251);
  return result;
}

// The bytes of the element that a tensor of [kRows, kColumns], or one that broadcasts to it, has
// there.
std::string element(const TestTensor& tensor, const Sizes& sizes, int32_t row, int32_t column) {
  TestTensor& x = const_cast<TestTensor&>(tensor);
  const bool has_rows = sizes.size() == 2 && sizes[0] != 1;
  const int32_t columns = sizes.empty() ? 1 : sizes.back();
  const int32_t at = (has_rows ? row * columns : 0) + (columns == 1 ? 0 : column);
  const size_t size = element_size(x->scalar_type());
  return {static_cast<const char*>(x->const_data()) + static_cast<size_t>(at) * size, size};
}

void check(ScalarType type, const Sizes& condition_sizes, const Sizes& a_sizes,
           const Sizes& b_sizes) {
  TestTensor condition(ScalarType::kBool, condition_sizes);
  for (int64_t i = 0; i < condition->numel(); ++i) {
    condition->mutable_data_ptr<uint8_t>()[i] =
        static_cast<uint8_t>(i * 7 % 11 < 5 ? 0 : i % 3 + 1);
  }
  TestTensor a = bytes_of(type, a_sizes, 13), b = bytes_of(type, b_sizes, 29);
  TestTensor out(type, {kRows, kColumns});
  call_fast("aten::where.self_out", {EValue(&*condition), EValue(&*a), EValue(&*b), EValue(&*out)});
  for (int32_t i = 0; i < kRows * kColumns; ++i) {
    const int32_t row = i / kColumns, column = i % kColumns;
    const bool is_true = element(condition, condition_sizes, row, column)[0] != 0;
    const std::string want =
        is_true ? element(a, a_sizes, row, column) : element(b, b_sizes, row, column);
    ASSERT_EQ(element(out, {kRows, kColumns}, row, column), want) << i;
  }
}

TEST(Where, TakesElementsOfOneOrTheOther) {
  const Sizes whole = {kRows, kColumns}, row = {kColumns}, column = {kRows, 1}, number = {};
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    for (const ScalarType type :
         {ScalarType::kByte, ScalarType::kShort, ScalarType::kFloat, ScalarType::kLong}) {
      SCOPED_TRACE(static_cast<int>(type));
      check(type, whole, whole, whole);
      check(type, whole, number, whole);
      check(type, whole, whole, number);
      check(type, whole, number, number);
      check(type, row, whole, column);
      check(type, column, row, whole);
      check(type, number, whole, row);
    }
  }
}

}  // namespace
}  // namespace taper::optimized
