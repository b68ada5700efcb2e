// Compares both orders of transposing and reshaping on tensors whose elements are their own indices.

#include "backends/xnnpack/aot/moved_reshape.h"

#include <gtest/gtest.h>

#include <numeric>

namespace taper::xnnpack {
namespace {

using exir::Sym;
using Dims = std::vector<Sym>;
using Perm = std::vector<uint32_t>;

// The elements of a dense tensor after a transpose.
std::vector<int> transposed(const std::vector<int>& x, const Dims& dims, const Perm& perm) {
  std::vector<size_t> strides(dims.size(), 1), index(dims.size(), 0);
  for (size_t d = dims.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * static_cast<size_t>(dims[d].as_int());
  }
  std::vector<int> out;
  while (out.size() < x.size()) {
    size_t at = 0;
    for (size_t d = 0; d < perm.size(); ++d) at += index[d] * strides[perm[d]];
    out.push_back(x[at]);
    for (size_t d = perm.size(); d-- > 0;) {
      if (++index[d] < static_cast<size_t>(dims[perm[d]].as_int())) break;
      index[d] = 0;
    }
  }
  return out;
}

// Both orders give the same elements.
void expect_same(const Dims& dims, const Perm& perm, const Dims& result) {
  const auto moved = reshape_before(dims, perm, result);
  ASSERT_TRUE(moved.has_value());
  int64_t count = 1;
  for (const Sym& size : dims) count *= size.as_int();
  std::vector<int> x(static_cast<size_t>(count));
  std::iota(x.begin(), x.end(), 0);
  EXPECT_EQ(transposed(x, moved->dims, moved->perm), transposed(x, dims, perm));
  Dims sizes;
  for (const uint32_t d : moved->perm) sizes.push_back(moved->dims[d]);
  EXPECT_EQ(sizes, result);
}

TEST(MovedReshape, TokensAsPixelsAndBack) {
  expect_same({2, 15, 4}, {0, 2, 1}, {2, 4, 3, 5});
  expect_same({2, 3, 5, 4}, {0, 3, 1, 2}, {2, 4, 15});
  const auto pixels = reshape_before({1, 3136, 256}, {0, 2, 1}, {1, 256, 56, 56});
  ASSERT_TRUE(pixels);
  EXPECT_EQ(pixels->dims, (Dims{1, 56, 56, 256}));
  EXPECT_EQ(composed(pixels->perm, {0, 2, 3, 1}), (Perm{0, 1, 2, 3}));
}

TEST(MovedReshape, SplitsAndMergesAnywhere) {
  expect_same({6, 4}, {1, 0}, {2, 2, 3, 2});
  expect_same({2, 3, 4, 5}, {2, 3, 0, 1}, {20, 6});
  expect_same({2, 3, 4, 5}, {2, 0, 1, 3}, {4, 6, 5});
  expect_same({8, 3}, {1, 0}, {3, 2, 2, 2});
}

TEST(MovedReshape, DimensionsOfSizeOne) {
  expect_same({1, 6, 4}, {2, 1, 0}, {4, 6});
  expect_same({6, 4}, {1, 0}, {1, 4, 1, 6, 1});
  expect_same({6, 1, 4}, {2, 1, 0}, {4, 2, 3});
}

TEST(MovedReshape, SymbolicSizes) {
  const Sym n = Sym::symbol("n"), h = Sym::symbol("h");
  const auto moved = reshape_before({n, h * 5, 4}, {0, 2, 1}, {n, 4, h, 5});
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->dims, (Dims{n, h, 5, 4}));
  EXPECT_EQ(moved->perm, (Perm{0, 3, 1, 2}));
}

TEST(MovedReshape, NoneIfElementsOfSeveralDimensionsMix) {
  EXPECT_FALSE(reshape_before({6, 4}, {1, 0}, {24}));
  EXPECT_FALSE(reshape_before({6, 4}, {1, 0}, {3, 8}));
  EXPECT_FALSE(reshape_before({2, 3, 5}, {1, 0, 2}, {3, 10, 1, 2}));
  EXPECT_FALSE(reshape_before({2, 3, 5, 7}, {0, 3, 2, 1}, {2, 7, 15}));
}

}  // namespace
}  // namespace taper::xnnpack
