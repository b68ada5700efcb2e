// One-sided Jacobi rotations: the columns of a matrix turned against each other until all are
// perpendicular. What turned them, if it is wanted, is turned along.
//
//   W V = U S: columns of W become U S, those of V (from the identity) the right vectors.

#pragma once

#include "kernels_portable/linalg.h"

namespace taper::portable {

template <typename T>
double column_product(const Matrix<T>& a, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t r = 0; r < a.rows; ++r) sum += static_cast<double>(a(r, i)) * a(r, j);
  return sum;
}

template <typename T>
void turn_columns(const Matrix<T>& a, int64_t i, int64_t j, double cosine, double sine) {
  for (int64_t r = 0; r < a.rows; ++r) {
    const double x = a(r, i), y = a(r, j);
    a(r, i) = static_cast<T>(cosine * x - sine * y);
    a(r, j) = static_cast<T>(sine * x + cosine * y);
  }
}

// Whether all columns are perpendicular in the end. `v` may have no rows.
template <typename T>
bool turn_until_perpendicular(const Matrix<T>& w, const Matrix<T>& v) {
  constexpr int kMostSweeps = 60;
  const double small = sizeof(T) == 4 ? 2e-7 : 1e-15;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool turned = false;
    for (int64_t i = 0; i + 1 < w.columns; ++i) {
      for (int64_t j = i + 1; j < w.columns; ++j) {
        const double a = column_product(w, i, i), b = column_product(w, j, j);
        const double c = column_product(w, i, j);
        if (std::abs(c) <= small * std::sqrt(a * b)) continue;
        const double slope = (b - a) / (2 * c);
        const double side = slope < 0 ? -1 : 1;
        const double tangent = side / (std::abs(slope) + std::sqrt(1 + slope * slope));
        const double cosine = 1 / std::sqrt(1 + tangent * tangent);
        turn_columns(w, i, j, cosine, cosine * tangent);
        turn_columns(v, i, j, cosine, cosine * tangent);
        turned = true;
      }
    }
    if (!turned) return true;
  }
  // The last digits of floats may go on turning: near enough is perpendicular too.
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
