// The blocked product against the definition, at sizes on both sides of every block's edge. The
// operands are small whole numbers, so that every order of summation gives the same float.

#include "kernels_portable/cores/gemm.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels_portable/cores/matmul.h"

namespace taper::portable {
namespace {

std::vector<float> whole_numbers(int64_t count, int64_t period) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = static_cast<float>(i % period - period / 2);
  }
  return values;
}

// Element (i, j) of a row-major matrix, or of the transpose of one that is stored transposed.
MatrixView view(std::vector<float>& values, int64_t rows, int64_t columns, bool transposed) {
  MatrixView result = {values.data(), ScalarType::kFloat, 0, columns, 1};
  if (transposed) result.row_stride = 1, result.column_stride = rows;
  return result;
}
float at(const MatrixView& m, int64_t i, int64_t j) {
  return static_cast<const float*>(m.data)[i * m.row_stride + j * m.column_stride];
}

void expect_product(int64_t rows, int64_t depth, int64_t columns, int transposed) {
  std::vector<float> a = whole_numbers(rows * depth, 7);
  std::vector<float> b = whole_numbers(depth * columns, 5);
  std::vector<float> c(static_cast<size_t>(rows * columns), -1.0f);
  const Matmul problem = {rows,
                          columns,
                          depth,
                          view(a, rows, depth, transposed & 1),
                          view(b, depth, columns, transposed & 2),
                          view(c, rows, columns, transposed & 4)};
  matmul(problem);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < depth; ++k) sum += at(problem.left, i, k) * at(problem.right, k, j);
      ASSERT_EQ(at(problem.out, i, j), sum)
          << rows << "x" << depth << "x" << columns << ", transposed " << transposed << ": (" << i
          << ", " << j << ")";
    }
  }
}

TEST(Gemm, MeetsTheDefinitionAtTheEdgesOfBlocks) {
  for (const int64_t rows : {1, 3, 4, 5, 24, 25}) {
    for (const int64_t depth : {1, 31, 32, 33, 257}) {
      for (const int64_t columns : {1, 7, 8, 63, 64, 65}) {
        for (int transposed = 0; transposed < 8; ++transposed) {
          expect_product(rows, depth, columns, transposed);
        }
      }
    }
  }
}

TEST(Gemm, ZeroDepthYieldsZeros) { expect_product(5, 0, 9, 0); }

TEST(Gemm, IntegersWrapAround) {
  int32_t a[] = {INT32_MAX, 1};
  int32_t b[] = {2, 3};
  int32_t c[] = {0};
  const auto row = [](int32_t* data) { return MatrixView{data, ScalarType::kInt, 0, 2, 1}; };
  matmul({1, 1, 2, row(a), transposed(row(b)), row(c)});
  EXPECT_EQ(c[0], 1);  // 2 * (2^31 - 1) + 3 = 2^32 + 1
}

}  // namespace
}  // namespace taper::portable
