// The product of two matrices that lie in memory: what mm, bmm, addmm, baddbmm and linear are.

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::portable {

// A matrix within a tensor: element (i, j) is number first + i * row_stride + j * column_stride.
struct MatrixView {
  void* data;
  ScalarType type;
  int64_t first;
  int64_t row_stride;
  int64_t column_stride;
};

// A view of the last two dimensions of `tensor` at `batch` of dimension 0 (if there are three).
MatrixView matrix_of(const Tensor& tensor, int64_t batch = 0);
// A view of `tensor`, of rank 0 to 3, repeated where its sizes are 1 or missing.
MatrixView broadcast_matrix(const Tensor& tensor, int64_t batch = 0);
// True if `tensor` may be repeated to these sizes, outermost first.
bool broadcasts_to(const Tensor& tensor, Span<const int64_t> sizes);
MatrixView transposed(MatrixView view);

// out = alpha * (left x right) + beta * added, where left is rows x depth. If beta is 0 or there is
// nothing to add, `added` is not read. All views have the same dtype, one that is_computable().
struct Matmul {
  int64_t rows;
  int64_t columns;
  int64_t depth;
  MatrixView left;
  MatrixView right;
  MatrixView out;
  const MatrixView* added = nullptr;
  Scalar alpha = Scalar(int64_t{1});
  Scalar beta = Scalar(int64_t{1});
};
void matmul(const Matmul& problem);

// Requires that the tensors share a dtype that products exist for, and that integers are not scaled
// by fractions.
Status check_product_types(const Tensor& left, const Tensor& right, const Tensor& out);
Status check_product_scalars(ScalarType type, Scalar alpha, Scalar beta);

}  // namespace taper::portable
