#include "exir/ir/scales.h"

#include <gtest/gtest.h>

namespace taper::exir {
namespace {

Scales integers(std::vector<uint8_t> bytes, ScalarType dtype = ScalarType::kChar) {
  Scales scales;
  scales.items = {1};
  scales.span = bytes.size();
  scales.dtype = dtype;
  scales.integers = own_bytes(std::move(bytes));
  scales.bits = bits_of(scales.integers, dtype);
  return scales;
}

std::vector<uint8_t> bytes_of(const TensorData& data) {
  return {data.data, data.data + data.bytes};
}

std::vector<float> numbers_of(const TensorData& data) {
  const auto* floats = reinterpret_cast<const float*>(data.data);
  return {floats, floats + data.bytes / sizeof(float)};
}

TEST(Scales, InAnotherOrderRunsAndRoundsAreFoundAnew) {
  Scales scales = integers({1, 2, 3, 4, 5, 6, 7, 8});
  scales.items = {0.5, 2};
  scales.zero_points = {0, 1};
  scales.span = 4;
  struct {
    std::vector<size_t> order;
    size_t span, rounds;
  } const cases[] = {{{3, 2, 1, 0, 7, 6, 5, 4}, 4, 1},
                     {{0, 1, 4, 5, 2, 3, 6, 7}, 2, 2},
                     {{0, 4, 1, 5, 2, 6, 3, 7}, 1, 4},
                     {{0, 1, 2}, 3, 1},
                     {{4, 0, 1, 2, 3, 5}, 1, 1}};
  const std::vector<float> elements = numbers_of(elements_of(scales));
  for (const auto& each : cases) {
    const auto moved = reordered(scales, each.order);
    EXPECT_EQ(moved->span, each.span);
    EXPECT_EQ(each.order.size() / (moved->span * moved->items.size()), each.rounds);
    const std::vector<float> found = numbers_of(elements_of(*moved));
    for (size_t n = 0; n < each.order.size(); ++n) EXPECT_EQ(found[n], elements[each.order[n]]);
  }
}

TEST(Scales, BitsAreThoseOfTheLeastAndTheLargest) {
  EXPECT_EQ(integers({0xfe, 1, 0}).bits, 2);
  EXPECT_EQ(integers({0xfd, 1, 0}).bits, 4);
  EXPECT_EQ(integers({0, 0, 0, 0, 0, 0, 0, 0, 0, 2}).bits, 4);
  EXPECT_EQ(integers({0xf8, 7}).bits, 4);
  EXPECT_EQ(integers({0xf7, 7}).bits, 8);
  EXPECT_EQ(integers({0x80, 0x7f}).bits, 8);
  EXPECT_EQ(integers({0, 15}, ScalarType::kByte).bits, 4);
  EXPECT_EQ(integers({0, 16}, ScalarType::kByte).bits, 8);
  EXPECT_EQ(integers({3, 0}, ScalarType::kByte).bits, 2);
}

TEST(Scales, RowsArePackedAndPadded) {
  // Two rows of nine: -8 to 0, then 7 down to -1.
  std::vector<uint8_t> rows;
  for (int i = -8; i <= 0; ++i) rows.push_back(static_cast<uint8_t>(i));
  for (int i = 7; i >= -1; --i) rows.push_back(static_cast<uint8_t>(i));
  EXPECT_EQ(bytes_of(packed_rows(integers(rows), 2, 9, 4, NibbleOrder::kLowFirst)),
            (std::vector<uint8_t>{0x10, 0x32, 0x54, 0x76, 0x08, 0xef, 0xcd, 0xab, 0x89, 0x07}));
  EXPECT_EQ(bytes_of(packed_rows(integers({0xf8, 7, 0, 1}), 1, 4, 4, NibbleOrder::kHighFirst)),
            (std::vector<uint8_t>{0x0f, 0x89}));
  EXPECT_EQ(bytes_of(packed_rows(integers({0xfe, 0xff, 0, 1, 1}), 1, 5, 2, NibbleOrder::kLowFirst)),
            (std::vector<uint8_t>{0xe4, 3}));
}

TEST(Scales, ElementsHaveTheScaleOfTheirRun) {
  Scales scales = integers({1, 2, 3, 4, 5, 6, 7, 8});
  scales.items = {1, 0.5};
  scales.zero_points = {0, 2};
  scales.span = 2;
  EXPECT_EQ(numbers_of(elements_of(scales)), (std::vector<float>{1, 2, 0.5, 1, 5, 6, 2.5, 3}));
  const TensorType type(ScalarType::kFloat, {2, 2, 2});
  EXPECT_TRUE(is_along(scales, type, 1));
  EXPECT_FALSE(is_along(scales, type, 0));
  EXPECT_EQ(group_of(scales, TensorType(ScalarType::kFloat, {2, 4})), 0);
  EXPECT_EQ(group_of(scales, TensorType(ScalarType::kFloat, {4, 2})), 0);
}

TEST(Scales, GroupsLieWithinRows) {
  Scales scales = integers({1, 2, 3, 4, 5, 6, 7, 8});
  scales.items = {1, 2, 3, 4};
  scales.span = 2;
  EXPECT_EQ(group_of(scales, TensorType(ScalarType::kFloat, {2, 4})), 2);
  EXPECT_EQ(group_of(scales, TensorType(ScalarType::kFloat, {4, 2})), 2);
  EXPECT_EQ(transposed(scales, TensorType(ScalarType::kFloat, {2, 4})), nullptr);
}

TEST(Scales, AMatrixIsTransposedWithItsScales) {
  Scales scales = integers({1, 2, 3, 4, 5, 6});
  scales.items = {1, 10};
  scales.span = 3;
  const auto turned = transposed(scales, TensorType(ScalarType::kFloat, {2, 3}));
  ASSERT_NE(turned, nullptr);
  EXPECT_EQ(numbers_of(elements_of(*turned)), (std::vector<float>{1, 40, 2, 50, 3, 60}));
}

}  // namespace
}  // namespace taper::exir
