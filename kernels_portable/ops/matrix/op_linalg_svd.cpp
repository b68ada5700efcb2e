// aten::_linalg_svd.U: U diag(S) Vh = A, by one-sided Jacobi rotations.
//
//   A    [..., m, n], float or double; k = min(m, n).
//   out  U [..., m, k] and Vh [..., k, n], or [..., m, m] and [..., n, n] if `full_matrices`;
//        S [..., k], in descending order. Signs are arbitrary: LAPACK's may differ.
//
// The columns of A, or of A^T if A has more columns than rows, are rotated in the memory of U or
// Vh.

#include "kernels_portable/cores/jacobi.h"
#include "kernels_portable/engine/compute.h"

namespace taper::portable {
namespace {

// Sets column j to a unit vector orthogonal to the columns before it: the coordinate axis farthest
// from the space that they span, less its projection onto that space.
template <typename T>
void complete_column(const Matrix<T>& u, int64_t j) {
  int64_t axis = 0;
  double most = -1;
  for (int64_t r = 0; r < u.rows; ++r) {
    double rest = 1;
    for (int64_t c = 0; c < j; ++c) rest -= static_cast<double>(u(r, c)) * u(r, c);
    if (rest > most) {
      most = rest;
      axis = r;
    }
  }
  for (int64_t r = 0; r < u.rows; ++r) u(r, j) = T(r == axis);
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t c = 0; c < j; ++c) {
      const double along = column_product(u, c, j);
      for (int64_t r = 0; r < u.rows; ++r) u(r, j) = static_cast<T>(u(r, j) - along * u(r, c));
    }
    const double length = std::sqrt(column_product(u, j, j));
    for (int64_t r = 0; r < u.rows; ++r) u(r, j) = static_cast<T>(u(r, j) / length);
  }
}

// w [m, >= n], m >= n, holds the matrix in its first n columns and becomes U; v [n, n] becomes V.
// The further columns of w complete an orthonormal basis. Returns false if the rotations do not
// converge.
template <typename T>
bool decompose(const Matrix<T>& w, const Matrix<T>& v, T* values, int64_t stride) {
  for (int64_t i = 0; i < v.rows; ++i) {
    for (int64_t j = 0; j < v.columns; ++j) v(i, j) = T(i == j);
  }
  Matrix<T> part = w;
  part.columns = v.columns;
  if (!orthogonalise_columns(part, v)) return false;
  for (int64_t j = 0; j < v.columns; ++j) {
    values[j * stride] = static_cast<T>(std::sqrt(column_product(w, j, j)));
  }
  for (int64_t j = 0; j < v.columns; ++j) {
    int64_t best = j;
    for (int64_t c = j + 1; c < v.columns; ++c) {
      if (values[c * stride] > values[best * stride]) best = c;
    }
    std::swap(values[j * stride], values[best * stride]);
    swap_columns(w, j, best);
    swap_columns(v, j, best);
  }
  const double least = v.columns > 0 ? static_cast<double>(values[0]) * 1e-30 : 0;
  for (int64_t j = 0; j < w.columns; ++j) {
    const double length = j < v.columns ? values[j * stride] : 0;
    if (!(length > least)) {
      complete_column(w, j);
      continue;
    }
    for (int64_t r = 0; r < w.rows; ++r) w(r, j) = static_cast<T>(w(r, j) / length);
  }
  return true;
}

template <typename T>
Status decompose_all(const Tensor& a, Tensor& u_out, Tensor& s, Tensor& vh_out) {
  const int64_t stride = s.strides()[static_cast<size_t>(s.dim()) - 1];
  for (int64_t batch = 0; batch < batches(a, 2); ++batch) {
    Matrix<T> in = matrix_of<T>(a, batch);
    Matrix<T> w = matrix_of<T>(u_out, batch), v = matrix_of<T>(vh_out, batch).transposed();
    if (in.rows < in.columns) {
      in = in.transposed();
      std::swap(w, v);
    }
    for (int64_t i = 0; i < in.rows; ++i) {
      for (int64_t j = 0; j < in.columns; ++j) {
        TAPER_REQUIRE(std::isfinite(in(i, j)), Error::kInvalidArgument,
                      "linalg_svd: a matrix holds a number that is not finite");
        w(i, j) = in(i, j);
      }
    }
    T* values = static_cast<T*>(s.mutable_data()) + batch_offset(s, 1, batch);
    TAPER_REQUIRE(decompose(w, v, values, stride), Error::kInvalidState,
                  "linalg_svd: the Jacobi rotations do not converge");
  }
  return {};
}

Status svd(KernelContext&, const Tensor& a, bool full_matrices, bool compute_uv,
           std::optional<std::string_view>, Tensor& u, Tensor& s, Tensor& vh) {
  TAPER_TRY(check_matrices(a));
  TAPER_REQUIRE(compute_uv, Error::kNotSupported, "linalg_svd: compute_uv must be true");
  const auto rank = static_cast<size_t>(a.dim());
  const int64_t rows = a.sizes()[rank - 2], columns = a.sizes()[rank - 1];
  const int64_t inner = rows < columns ? rows : columns;
  TAPER_TRY(resize_matrices(u, a, rows, full_matrices ? rows : inner));
  TAPER_TRY(resize_matrices(vh, a, full_matrices ? columns : inner, columns));
  TAPER_TRY(resize_vectors(s, a, inner));
  return with_float_type(a.scalar_type(),
                         [&](auto zero) { return decompose_all<decltype(zero)>(a, u, s, vh); });
}

}  // namespace

extern const Kernel kLinalgSvdU;
const Kernel kLinalgSvdU = make_kernel<svd>("aten::_linalg_svd.U");

}  // namespace taper::portable
