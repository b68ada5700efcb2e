// Dense matrices in float or double, in batches, factored where they lie.
//
// The last two dimensions are a matrix, those before count matrices. LU takes the largest of a
// column as pivot, as LAPACK does; `pivots` are its row numbers, from one.

#pragma once

#include <cmath>
#include <utility>

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

// The number of matrices (`inner` = 2), or of vectors (1), in a tensor.
int64_t batches(const Tensor& tensor, size_t inner);
// Where matrix, vector or scalar number `batch` begins, in elements.
int64_t batch_offset(const Tensor& tensor, size_t inner, int64_t batch);

// Matrix number `batch`. REQUIRES: T is the dtype, two dimensions or more.
template <typename T>
Matrix<T> matrix_of(const Tensor& tensor, int64_t batch) {
  const auto rank = static_cast<size_t>(tensor.dim());
  return {static_cast<T*>(tensor.mutable_data()) + batch_offset(tensor, 2, batch),
          tensor.sizes()[rank - 2], tensor.sizes()[rank - 1], tensor.strides()[rank - 2],
          tensor.strides()[rank - 1]};
}

// Two dimensions or more, float or double.
Status check_matrices(const Tensor& matrices);
// The same, and the last two equal.
Status check_square(const Tensor& matrices);
// Copies matrices, or their transpositions. REQUIRES: `to` has the sizes of `from`.
void copy_matrices(const Tensor& from, bool transposed, Tensor& to);
// Whether x A = B (A x = B if `left`) has the same dtype and leading sizes on both sides.
Status check_sides(const Tensor& a, const Tensor& b, bool left);
// `out` gets the sizes of `self` without the last `dropped`. Its dtype must be `type`.
Status resize_leading(Tensor& out, const Tensor& self, size_t dropped, ScalarType type);
// `out` gets the leading sizes of `self` and those of its matrices, or vectors; its dtype is that
// of `self`.
Status resize_matrices(Tensor& out, const Tensor& self, int64_t rows, int64_t columns);
Status resize_vectors(Tensor& out, const Tensor& self, int64_t length);

// What became of the rows: how often two changed places, and the first pivot of zero, from one.
struct Factored {
  int64_t swaps = 0;
  int32_t singular = 0;
};

// a = P L U in place; L has ones on its diagonal, which are not stored.
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
      for (int64_t j = k + 1; j < n; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return found;
}

// Solves a x = b in place of b, for a triangle of a.
template <typename T>
void solve_triangle(const Matrix<T>& a, bool upper, bool unit, const Matrix<T>& b) {
  const int64_t n = a.rows;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    for (int64_t j = 0; j < b.columns; ++j) {
      T rest = b(i, j);
      for (int64_t k = upper ? i + 1 : 0; k < (upper ? n : i); ++k) rest -= a(i, k) * b(k, j);
      b(i, j) = unit ? rest : rest / a(i, i);
    }
  }
}

}  // namespace taper::portable
