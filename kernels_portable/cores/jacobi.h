// The one-sided Jacobi method: pairs of columns of a matrix W are rotated until all columns are
// orthogonal. The same rotations are applied to a second matrix V.
//
//   If V starts as the identity, W becomes W V = U S, and V holds the right singular vectors.

#pragma once

#include "kernels_portable/cores/linalg.h"

namespace taper::portable {

// The dot product of columns i and j.
template <typename T>
double column_product(const Matrix<T>& a, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t r = 0; r < a.rows; ++r) sum += static_cast<double>(a(r, i)) * a(r, j);
  return sum;
}

// Rotates columns i and j in the plane that they span.
template <typename T>
void rotate_columns(const Matrix<T>& a, int64_t i, int64_t j, double cosine, double sine) {
  for (int64_t r = 0; r < a.rows; ++r) {
    const double x = a(r, i), y = a(r, j);
    a(r, i) = static_cast<T>(cosine * x - sine * y);
    a(r, j) = static_cast<T>(sine * x + cosine * y);
  }
}

// Rotates the columns of `w`, and with them those of `v`, which may have no rows, until those of
// `w` are orthogonal. Returns false if they do not become so.
template <typename T>
bool orthogonalise_columns(const Matrix<T>& w, const Matrix<T>& v) {
  constexpr int kMostSweeps = 60;
  const double small = sizeof(T) == 4 ? 2e-7 : 1e-15;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t i = 0; i + 1 < w.columns; ++i) {
      for (int64_t j = i + 1; j < w.columns; ++j) {
        const double a = column_product(w, i, i), b = column_product(w, j, j);
        const double c = column_product(w, i, j);
        if (std::abs(c) <= small * std::sqrt(a * b)) continue;
        const double slope = (b - a) / (2 * c);
        const double side = slope < 0 ? -1 : 1;
        const double tangent = side / (std::abs(slope) + std::sqrt(1 + slope * slope));
        const double cosine = 1 / std::sqrt(1 + tangent * tangent);
        rotate_columns(w, i, j, cosine, cosine * tangent);
        rotate_columns(v, i, j, cosine, cosine * tangent);
        rotated = true;
      }
    }
    if (!rotated) return true;
  }
  // Rounding in the last digits may cause rotations without end, so accept columns that are nearly
  // orthogonal.
  for (int64_t i = 0; i + 1 < w.columns; ++i) {
    for (int64_t j = i + 1; j < w.columns; ++j) {
      const double both = std::sqrt(column_product(w, i, i) * column_product(w, j, j));
      if (!(std::abs(column_product(w, i, j)) <= 64 * small * both)) return false;
    }
  }
  return true;
}

template <typename T>
void swap_columns(const Matrix<T>& a, int64_t i, int64_t j) {
  for (int64_t r = 0; r < a.rows; ++r) std::swap(a(r, i), a(r, j));
}

}  // namespace taper::portable
