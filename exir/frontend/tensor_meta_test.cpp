#include "exir/frontend/tensor_meta.h"

#include <gtest/gtest.h>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

using Order = std::vector<uint8_t>;
using Ints = std::vector<int64_t>;

struct Case {
  const char* name;
  Ints sizes, strides;
  std::optional<Order> want;
};

class DenseOrder : public testing::TestWithParam<Case> {};

TEST_P(DenseOrder, IsFoundFromStrides) {
  EXPECT_EQ(dense_order(GetParam().sizes, GetParam().strides), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Strides, DenseOrder,
    testing::Values(
        Case{"scalar", {}, {}, Order{}}, Case{"contiguous", {2, 3, 4}, {12, 4, 1}, Order{0, 1, 2}},
        Case{"channels_last", {2, 3, 4, 5}, {60, 1, 15, 3}, Order{0, 2, 3, 1}},
        Case{"channels_last_3d", {2, 3, 4, 5, 6}, {360, 1, 90, 18, 3}, Order{0, 2, 3, 4, 1}},
        Case{"one_channel_is_contiguous", {2, 1, 4, 5}, {20, 1, 5, 1}, Order{0, 1, 2, 3}},
        Case{"one_pixel_is_contiguous", {2, 3, 1, 1}, {3, 1, 3, 3}, Order{0, 1, 2, 3}},
        Case{"transposed", {4, 3}, {1, 4}, Order{1, 0}},
        Case{"permuted", {5, 2, 4, 3}, {1, 60, 5, 20}, Order{1, 3, 2, 0}},
        Case{"strides_of_ones_do_not_matter", {1, 3}, {999, 1}, Order{0, 1}},
        Case{"slice", {3, 5}, {10, 1}, std::nullopt}, Case{"expanded", {5}, {0}, std::nullopt},
        Case{"overlapping", {3, 3}, {1, 1}, std::nullopt},
        Case{"empty", {0, 3}, {7, 9}, Order{0, 1}}),
    [](const auto& info) { return info.param.name; });

TEST(DenseOrderOfSymbols, ComparesExpressions) {
  const Sym n = Sym::symbol("s0");
  using Syms = std::vector<Sym>;
  EXPECT_EQ(dense_order(Syms{2, n, 4}, Syms{n * 4, 4, 1}, {20, 4, 1}), (Order{0, 1, 2}));
  EXPECT_EQ(dense_order(Syms{n, 4}, Syms{1, n}, {1, 5}), (Order{1, 0}));
  EXPECT_EQ(dense_order(Syms{n, 4}, Syms{8, 1}, {8, 1}), std::nullopt);
}

TEST(Dtypes, FollowTheExportSchema) {
  EXPECT_EQ(import_dtype(1), ScalarType::kByte);
  EXPECT_EQ(import_dtype(5), ScalarType::kLong);
  EXPECT_EQ(import_dtype(6), ScalarType::kHalf);
  EXPECT_EQ(import_dtype(7), ScalarType::kFloat);
  EXPECT_EQ(import_dtype(12), ScalarType::kBool);
  EXPECT_EQ(import_dtype(13), ScalarType::kBFloat16);
  EXPECT_EQ(import_dtype(28), ScalarType::kUInt16);
  EXPECT_EQ(import_dtype(35), ScalarType::kUInt64);
  for (int64_t code : {29, 30, 31, 32, 33}) EXPECT_EQ(import_dtype(code), ScalarType::kByte);
  for (int64_t code : {-1, 0, 9, 10, 11, 14, 36, 1000}) {
    EXPECT_THROW(import_dtype(code), Failure) << code;
  }
}

}  // namespace
}  // namespace taper::exir
