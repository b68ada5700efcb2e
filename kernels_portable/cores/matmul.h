// The product of two matrices in memory: what mm, bmm, addmm, baddbmm and linear compute.

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::portable {

struct Multipliers;  // gemm.h

// A matrix within a tensor: element (i, j) lies at first + i * row_stride + j * column_stride, in
// elements.
struct MatrixView {
  void* data;
  ScalarType type;
  int64_t first;
  int64_t row_stride;
  int64_t column_stride;
};

// A view of the last two dimensions of `tensor`, at index `batch` of dimension 0 if there are
// three.
MatrixView matrix_of(const Tensor& tensor, int64_t batch = 0);
// A view of `tensor`, of rank 0 to 3, broadcast to a matrix.
MatrixView broadcast_matrix(const Tensor& tensor, int64_t batch = 0);
// True if `tensor` broadcasts to these sizes, outermost first.
bool broadcasts_to(const Tensor& tensor, Span<const int64_t> sizes);
MatrixView transposed(MatrixView view);

// out = alpha * (left x right) + beta * added, where left is rows x depth. `added` may be null, and
// is not read if beta is 0. All views have the same dtype, one that is_computable().
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
void matmul(const Matmul& problem, const Multipliers* by = nullptr);

// Require that the tensors share a dtype that is_computable(), and that integers are not scaled by
// fractions.
Status check_product_types(const Tensor& left, const Tensor& right, const Tensor& out);
Status check_product_scalars(ScalarType type, Scalar alpha, Scalar beta);

}  // namespace taper::portable
