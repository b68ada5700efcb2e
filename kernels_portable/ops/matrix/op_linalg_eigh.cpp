// aten::_linalg_eigh.eigenvalues: V diag(L) V^T = A of a symmetric A, by Jacobi rotations.
//
//   A    [..., n, n], float or double; only the triangle that `UPLO` names is read.
//   out  L [..., n], in ascending order; V [..., n, n]. Signs are arbitrary: LAPACK's may differ.
//
// With c at least twice as large as any eigenvalue of A, A + c I is positive definite and well
// conditioned, so one-sided rotations that orthogonalise its columns yield V times its eigenvalues.

#include "kernels_portable/cores/jacobi.h"
#include "kernels_portable/engine/compute.h"

namespace taper::portable {
namespace {

template <typename T>
struct Symmetric {
  Matrix<T> a;
  bool upper;
  double operator()(int64_t i, int64_t j) const { return (i > j) == upper ? a(j, i) : a(i, j); }
};

// Twice the largest sum of the magnitudes of a row, which bounds the eigenvalues; 1 for a zero
// matrix.
template <typename T>
double shift_of(const Symmetric<T>& a) {
  double most = 0;
  for (int64_t i = 0; i < a.a.rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < a.a.rows; ++j) sum += std::abs(a(i, j));
    if (!(sum <= most)) most = sum;
  }
  return most == 0 ? 1 : 2 * most;
}

// v^T A v for column j of `v`, a vector of length 1: the eigenvalue if v is an eigenvector.
template <typename T>
double quotient(const Symmetric<T>& a, const Matrix<T>& v, int64_t j) {
  double sum = 0;
  for (int64_t r = 0; r < v.rows; ++r) {
    double line = 0;
    for (int64_t c = 0; c < v.rows; ++c) line += a(r, c) * v(c, j);
    sum += line * v(r, j);
  }
  return sum;
}

template <typename T>
Status decompose(const Symmetric<T>& a, const Matrix<T>& v, T* values, int64_t stride) {
  const double shift = shift_of(a);
  TAPER_REQUIRE(std::isfinite(shift), Error::kInvalidArgument,
                "linalg_eigh: a matrix holds a number that is not finite or too large");
  for (int64_t i = 0; i < v.rows; ++i) {
    for (int64_t j = 0; j < v.rows; ++j) v(i, j) = static_cast<T>(a(i, j) + (i == j ? shift : 0));
  }
  const Matrix<T> none{v.data, 0, v.columns, 0, 0};
  TAPER_REQUIRE(orthogonalise_columns(v, none), Error::kInvalidState,
                "linalg_eigh: the Jacobi rotations do not converge");
  for (int64_t j = 0; j < v.rows; ++j) {
    const double length = std::sqrt(column_product(v, j, j));
    for (int64_t r = 0; r < v.rows; ++r) v(r, j) = static_cast<T>(v(r, j) / length);
    values[j * stride] = static_cast<T>(quotient(a, v, j));
  }
  for (int64_t j = 0; j < v.rows; ++j) {
    int64_t best = j;
    for (int64_t c = j + 1; c < v.rows; ++c) {
      if (values[c * stride] < values[best * stride]) best = c;
    }
    std::swap(values[j * stride], values[best * stride]);
    swap_columns(v, j, best);
  }
  return {};
}

template <typename T>
Status decompose_all(const Tensor& a, bool upper, Tensor& values, Tensor& vectors) {
  const int64_t stride = values.strides()[static_cast<size_t>(values.dim()) - 1];
  for (int64_t batch = 0; batch < batches(a, 2); ++batch) {
    T* line = static_cast<T*>(values.mutable_data()) + batch_offset(values, 1, batch);
    TAPER_TRY(decompose(Symmetric<T>{matrix_of<T>(a, batch), upper}, matrix_of<T>(vectors, batch),
                        line, stride));
  }
  return {};
}

Status eigh(KernelContext&, const Tensor& a, std::string_view uplo, bool compute_v, Tensor& values,
            Tensor& vectors) {
  TAPER_TRY(check_square(a));
  TAPER_REQUIRE(compute_v, Error::kNotSupported, "linalg_eigh: compute_v must be true");
  TAPER_REQUIRE(uplo.size() == 1, Error::kInvalidArgument, "linalg_eigh: UPLO must be L or U");
  TAPER_TRY(resize_leading(values, a, 1, a.scalar_type()));
  TAPER_TRY(resize_leading(vectors, a, 0, a.scalar_type()));
  const bool upper = uplo[0] == 'U' || uplo[0] == 'u';
  return with_float_type(a.scalar_type(), [&](auto zero) {
    return decompose_all<decltype(zero)>(a, upper, values, vectors);
  });
}

}  // namespace

extern const Kernel kLinalgEighEigenvalues;
const Kernel kLinalgEighEigenvalues = make_kernel<eigh>("aten::_linalg_eigh.eigenvalues");

}  // namespace taper::portable
