// The product against sums in double: every strip height, ragged columns and depths, all layouts of
// the operands, with and without scratch. Memory is exactly as large as the matrices.

#include "kernels_optimized/cores/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "kernels_optimized/engine/dispatch.h"

namespace taper::optimized {
namespace {

struct Sizes {
  int64_t rows, columns, depth;
};

// A matrix of random numbers with contiguous rows, contiguous columns, or neither.
struct Matrix {
  Matrix(int64_t rows, int64_t columns, int layout, std::mt19937& random) {
    const int64_t gap = layout == 2 ? 2 : 1;
    const auto count = static_cast<size_t>(rows * columns * gap);
    data.reset(new float[count]);
    std::uniform_real_distribution<float> numbers(-1, 1);
    for (size_t i = 0; i < count; ++i) data[i] = numbers(random);
    view = {data.get(), layout == 1 ? 1 : columns * gap, layout == 1 ? rows : gap};
  }
  double at(int64_t i, int64_t j) const {
    return static_cast<double>(view.data[i * view.row_stride + j * view.column_stride]);
  }
  std::unique_ptr<float[]> data;
  FloatMatrix view;
};

void check(const Gemm& g, const Matrix& left, const Matrix& right, const Matrix* added,
           const std::vector<float>& out) {
  for (int64_t m = 0; m < g.rows; ++m) {
    for (int64_t n = 0; n < g.columns; ++n) {
      double want = 0;
      for (int64_t k = 0; k < g.depth; ++k) want += left.at(m, k) * right.at(k, n);
      want *= static_cast<double>(g.alpha);
      if (added != nullptr) want += static_cast<double>(g.beta) * added->at(m, n);
      const double got = static_cast<double>(out[static_cast<size_t>(m * g.out_stride + n)]);
      ASSERT_NEAR(got, want, 1e-5 * (1 + std::sqrt(static_cast<double>(g.depth)))) << m << "," << n;
    }
  }
}

void run(const Sizes& sizes, int left_layout, int right_layout, bool adds, Span<float> scratch) {
  SCOPED_TRACE(testing::Message() << sizes.rows << "x" << sizes.columns << "x" << sizes.depth
                                  << " layouts " << left_layout << right_layout << adds);
  std::mt19937 random(7);
  const Matrix left(sizes.rows, sizes.depth, left_layout, random);
  const Matrix right(sizes.depth, sizes.columns, right_layout, random);
  const Matrix added(sizes.rows, sizes.columns, right_layout, random);
  std::vector<float> out(static_cast<size_t>(sizes.rows * sizes.columns), NAN);
  Gemm g;
  g.rows = sizes.rows;
  g.columns = sizes.columns;
  g.depth = sizes.depth;
  g.left = left.view;
  g.right = right.view;
  g.out = out.data();
  g.out_stride = sizes.columns;
  if (adds) {
    g.alpha = 0.5f;
    g.beta = 2;
    g.added = added.view;
  }
  if (!gemm(g, scratch)) return;
  check(g, left, right, adds ? &added : nullptr, out);
  if (left_layout != 0) return;
  std::vector<float> panels(static_cast<size_t>(panel_floats(g.depth, g.columns)));
  g.panels = pack_panels(g.right, g.depth, g.columns, panels.data());
  g.right = {};
  std::fill(out.begin(), out.end(), NAN);
  ASSERT_TRUE(gemm(g, {}));
  check(g, left, right, adds ? &added : nullptr, out);
  g.depth -= g.depth / 3;  // A part of the right operand.
  g.columns -= g.columns / 3;
  std::fill(out.begin(), out.end(), NAN);
  ASSERT_TRUE(gemm(g, {}));
  check(g, left, right, adds ? &added : nullptr, out);
}

TEST(Gemm, EveryShapeAndLayout) {
  const Sizes shapes[] = {{1, 1, 1},   {1, 300, 70},  {2, 33, 17},  {3, 5, 0},     {4, 64, 40},
                          {5, 31, 9},  {6, 32, 300},  {7, 20, 33},  {8, 129, 16},  {9, 65, 7},
                          {11, 8, 90}, {12, 96, 257}, {13, 17, 19}, {25, 70, 600}, {40, 300, 100}};
  std::vector<float> scratch(kGemmScratchFloats);
  for (const Level level : kLevels) {
    limit_level(level);
    for (const Sizes& sizes : shapes) {
      for (int layouts = 0; layouts < 9; ++layouts) {
        run(sizes, layouts / 3, layouts % 3, layouts % 2 == 0, {scratch.data(), scratch.size()});
        run(sizes, layouts / 3, layouts % 3, layouts % 2 == 1, {});
      }
    }
  }
  limit_level(Level::kAvx512);
}

TEST(Gemm, DoesNotReadWhatIsNotAdded) {
  const float left[] = {1, 2}, right[] = {3, 4}, added[] = {NAN};
  float out[] = {7};
  Gemm g;
  g.rows = g.columns = 1;
  g.depth = 2;
  g.left = {left, 2, 1};
  g.right = {right, 1, 1};
  g.out = out;
  g.out_stride = 1;
  g.beta = 0;
  g.added = {added, 0, 0};
  if (!gemm(g, {})) GTEST_SKIP() << "no tiles for this processor";
  EXPECT_EQ(out[0], 11);
}

TEST(Gemm, AsksForTheRightOperandPieceByPiece) {
  struct Source {
    // Row k of column n is 1 / (1 + k + n).
    static void pack(const void*, int64_t k, int64_t depth, int64_t n, int64_t columns, float* to,
                     int64_t stride) {
      for (int64_t i = 0; i < depth; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          to[i * stride + j] = 1 / static_cast<float>(1 + k + i + n + j);
        }
      }
    }
  };
  const int64_t rows = 14, columns = 77, depth = 400;
  const std::vector<float> left(static_cast<size_t>(rows * depth), 1);
  std::vector<float> out(static_cast<size_t>(rows * columns), NAN);
  Gemm g;
  g.rows = rows;
  g.columns = columns;
  g.depth = depth;
  g.left = {left.data(), depth, 1};
  g.packed_right = {Source::pack, nullptr};
  g.out = out.data();
  g.out_stride = columns;
  if (!gemm(g, {})) GTEST_SKIP() << "no tiles for this processor";
  for (int64_t n = 0; n < columns; ++n) {
    double want = 0;
    for (int64_t k = 0; k < depth; ++k) want += 1.0 / static_cast<double>(1 + k + n);
    EXPECT_NEAR(out[static_cast<size_t>(13 * columns + n)], want, 1e-4);
  }
}

}  // namespace
}  // namespace taper::optimized
