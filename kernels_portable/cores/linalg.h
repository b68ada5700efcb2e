// Dense matrices in float or double, in batches, and their factorisation in place.
//
// The last two dimensions of a tensor are a matrix, those before them the batch. LU uses partial
// pivoting, as LAPACK does: the pivot is the largest element of a column, and `pivots` holds its
// row, counted from one.

#pragma once

#include <cmath>
#include <utility>

#include "kernels_portable/engine/elementwise.h"
#include "taper/kernel.h"

namespace taper::portable {

template <typename T>
struct Matrix {
  T* data;
  int64_t rows, columns;
  int64_t row_stride, column_stride;

  T& operator()(int64_t i, int64_t j) const { return data[i * row_stride + j * column_stride]; }
  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

// The number of matrices (`inner` = 2) or of vectors (`inner` = 1) in a tensor.
int64_t batches(const Tensor& tensor, size_t inner);
// The offset, in elements, of matrix, vector or scalar (`inner` = 0) number `batch`.
int64_t batch_offset(const Tensor& tensor, size_t inner, int64_t batch);

// Matrix number `batch`. REQUIRES: T is the dtype, and there are at least two dimensions.
template <typename T>
Matrix<T> matrix_of(const Tensor& tensor, int64_t batch) {
  const auto rank = static_cast<size_t>(tensor.dim());
  return {static_cast<T*>(tensor.mutable_data()) + batch_offset(tensor, 2, batch),
          tensor.sizes()[rank - 2], tensor.sizes()[rank - 1], tensor.strides()[rank - 2],
          tensor.strides()[rank - 1]};
}

// Requires two or more dimensions, and float or double.
Status check_matrices(const Tensor& matrices);
// Requires in addition that the last two sizes are equal.
Status check_square(const Tensor& matrices);
// Copies matrices, or their transposes. REQUIRES: `to` has the sizes of `from`.
void copy_matrices(const Tensor& from, bool transposed, Tensor& to);
// Requires that A and B of the equation A x = B (x A = B unless `left`) have the same dtype and
// sizes that match.
Status check_sides(const Tensor& a, const Tensor& b, bool left);
// Resizes `out` to the sizes of `self` without the last `dropped`. Its dtype must be `type`.
Status resize_leading(Tensor& out, const Tensor& self, size_t dropped, ScalarType type);
// Resizes `out` to matrices, or vectors, of the given sizes with the leading sizes of `self`. Its
// dtype must be that of `self`.
Status resize_matrices(Tensor& out, const Tensor& self, int64_t rows, int64_t columns);
Status resize_vectors(Tensor& out, const Tensor& self, int64_t length);

// Subtracts `factor` times columns [first, end) of a row from those of another row.
template <typename T>
void subtract_row(const Matrix<T>& to, int64_t row, T factor, const Matrix<T>& from, int64_t other,
                  int64_t first, int64_t end) {
  T* y = &to(row, 0);
  const T* x = &from(other, 0);
  if (to.column_stride == 1 && from.column_stride == 1) {
    TAPER_INDEPENDENT_LOOP
    for (int64_t j = first; j < end; ++j) y[j] -= factor * x[j];
    return;
  }
  for (int64_t j = first; j < end; ++j)
    y[j * to.column_stride] -= factor * x[j * from.column_stride];
}

// The outcome of lu_factor(): how many pairs of rows were swapped, and the row of the first pivot
// that is zero, counted from one (0 if there is none).
struct Factored {
  int64_t swaps = 0;
  int32_t singular = 0;
};

// Factors a = P L U in place; L has ones on its diagonal, which are not stored.
template <typename T>
Factored lu_factor(const Matrix<T>& a, int32_t* pivots, int64_t pivot_stride) {
  Factored found;
  const int64_t n = a.rows;
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    }
    pivots[k * pivot_stride] = static_cast<int32_t>(best + 1);
    if (best != k) {
      for (int64_t j = 0; j < n; ++j) std::swap(a(k, j), a(best, j));
      ++found.swaps;
    }
    if (a(k, k) == T(0)) {
      if (found.singular == 0) found.singular = static_cast<int32_t>(k + 1);
      continue;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      const T factor = a(i, k) /= a(k, k);
      subtract_row(a, i, factor, a, k, k + 1, n);
    }
  }
  return found;
}

// Solves a x = b, where a is a triangular matrix, and overwrites b with x. With `unit` the diagonal
// of a counts as ones.
template <typename T>
void solve_triangle(const Matrix<T>& a, bool upper, bool unit, const Matrix<T>& b) {
  const int64_t n = a.rows;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    for (int64_t k = upper ? i + 1 : 0; k < (upper ? n : i); ++k) {
      subtract_row(b, i, a(i, k), b, k, 0, b.columns);
    }
    for (int64_t j = 0; j < b.columns && !unit; ++j) b(i, j) /= a(i, i);
  }
}

}  // namespace taper::portable
