// Products with packed constants, against their definition in double.

#include "kernels_optimized/cores/arm/constant_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace taper::optimized {
namespace {

constexpr float kUntouched = -99;

std::vector<float> numbers(int64_t count, int64_t step) {
  std::vector<float> made(static_cast<size_t>(count));
  for (size_t i = 0; i < made.size(); ++i) {
    made[i] = static_cast<float>(static_cast<int64_t>(i) * step % 101) / 50 - 1;
  }
  return made;
}

constexpr float kMin = -0.75f, kMax = 1.5f;

// With the bias of each column and bounds, if it `has_ends`.
void expect_right(int64_t rows, int64_t depth, int64_t columns, bool is_turned, bool has_ends) {
  SCOPED_TRACE(testing::Message() << rows << " x " << depth << " x " << columns);
  const std::vector<float> left = numbers(rows * depth, 37), right = numbers(columns * depth, 17);
  const std::vector<float> bias = numbers(columns, 29);
  std::vector<float> packed(static_cast<size_t>(constant_product_size(depth, columns)));
  std::vector<float> out(static_cast<size_t>(rows * columns + 16), kUntouched);
  const int64_t depth_step = is_turned ? columns : 1, column_step = is_turned ? 1 : depth;
  pack_constant({right.data(), depth, columns, depth_step, column_step}, packed.data());
  ConstantProduct product = {left.data(), rows, depth, packed.data(), columns, out.data()};
  product.has_ends = has_ends;
  product.bias = depth % 2 == 0 ? bias.data() : nullptr;
  product.min = kMin;
  product.max = kMax;
  const int64_t panels = constant_panels(columns);
  for (int64_t panel = 0; panel < panels; ++panel) multiply_constant(product, panel, panel + 1);
  size_t at = 0;
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < columns; ++n, ++at) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        sum += static_cast<double>(left[static_cast<size_t>(m * depth + k)]) *
               static_cast<double>(right[static_cast<size_t>(k * depth_step + n * column_step)]);
      }
      if (has_ends && depth % 2 == 0) sum += static_cast<double>(bias[static_cast<size_t>(n)]);
      if (has_ends) sum = std::clamp(sum, double{kMin}, double{kMax});
      ASSERT_NEAR(out[at], sum, 1e-6 * static_cast<double>(depth)) << m << ", " << n;
    }
  }
  for (; at < out.size(); ++at) ASSERT_EQ(out[at], kUntouched);
}

TEST(ConstantProduct, AnySizes) {
  if (!has_constant_product()) GTEST_SKIP() << "not for this processor";
  for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 9, 11, 16, 49}) {
    for (const int64_t depth : {1, 3, 4, 8, 13, 64}) {
      for (const int64_t columns : {1, 4, 7, 8, 9, 16, 18, 31, 32, 50}) {
        expect_right(rows, depth, columns, rows % 2 == 0, false);
        expect_right(rows, depth, columns, rows % 2 != 0, true);
      }
    }
  }
}

TEST(ConstantProduct, NansStay) {
  if (!has_constant_product()) GTEST_SKIP() << "not for this processor";
  const std::vector<float> left = {1, NAN, 1, 1}, right = {1, 1};
  std::vector<float> packed(static_cast<size_t>(constant_product_size(2, 1))), out(2);
  pack_constant({right.data(), 2, 1, 1, 2}, packed.data());
  ConstantProduct product = {left.data(), 2, 2, packed.data(), 1, out.data()};
  product.has_ends = true;
  product.max = 6;
  multiply_constant(product, 0, 1);
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], 2);
}

}  // namespace
}  // namespace taper::optimized
