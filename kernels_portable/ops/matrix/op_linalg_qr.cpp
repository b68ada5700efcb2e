// aten::linalg_qr.out: Q R = A, by Householder's reflections with LAPACK's signs.
//
//   self   A [..., m, n], float or double; k = min(m, n).
//   mode   "reduced": Q [..., m, k], R [..., k, n]; "complete": Q [..., m, m], R [..., m, n].
//
// Reflection i is I - t v v^T with v[i] = 1 and t = 2 / (v . v). The entries of v after v[i] are
// kept below the diagonal of the matrix until Q is computed from them. A column that is zero below
// the diagonal needs no reflection: t = 0.

#include "kernels_portable/cores/linalg.h"
#include "kernels_portable/engine/compute.h"

namespace taper::portable {
namespace {

template <typename T>
double weight_of(const Matrix<T>& a, int64_t i) {
  double sum = 0;
  for (int64_t r = i + 1; r < a.rows; ++r) sum += static_cast<double>(a(r, i)) * a(r, i);
  return sum == 0 ? 0 : 2 / (1 + sum);
}

// Applies the reflection stored in column i of `v` to column j of `a`.
template <typename T>
void reflect(const Matrix<T>& v, int64_t i, double weight, const Matrix<T>& a, int64_t j) {
  double along = a(i, j);
  for (int64_t r = i + 1; r < v.rows; ++r) along += static_cast<double>(v(r, i)) * a(r, j);
  along *= weight;
  a(i, j) = static_cast<T>(a(i, j) - along);
  for (int64_t r = i + 1; r < v.rows; ++r) a(r, j) = static_cast<T>(a(r, j) - along * v(r, i));
}

// Factors `a` in place: R on and above the diagonal, the reflections below it.
template <typename T>
void factor(const Matrix<T>& a) {
  const int64_t steps = a.rows < a.columns ? a.rows : a.columns;
  for (int64_t i = 0; i < steps; ++i) {
    double below = 0;
    for (int64_t r = i + 1; r < a.rows; ++r) below += static_cast<double>(a(r, i)) * a(r, i);
    if (below == 0) continue;
    const double first = a(i, i), length = std::sqrt(first * first + below);
    const double end = first >= 0 ? -length : length;
    for (int64_t r = i + 1; r < a.rows; ++r) a(r, i) = static_cast<T>(a(r, i) / (first - end));
    const double weight = weight_of(a, i);
    for (int64_t j = i + 1; j < a.columns; ++j) reflect(a, i, weight, a, j);
    a(i, i) = static_cast<T>(end);
  }
}

// Replaces the reflections in the first `steps` columns of q by their product, Q.
template <typename T>
void gather_q(const Matrix<T>& q, int64_t steps) {
  for (int64_t j = steps; j < q.columns; ++j) {
    for (int64_t r = 0; r < q.rows; ++r) q(r, j) = T(r == j);
  }
  for (int64_t i = steps - 1; i >= 0; --i) {
    const double weight = weight_of(q, i);
    for (int64_t j = i + 1; j < q.columns; ++j) reflect(q, i, weight, q, j);
    for (int64_t r = 0; r < i; ++r) q(r, i) = T(0);
    for (int64_t r = i + 1; r < q.rows; ++r) q(r, i) = static_cast<T>(-weight * q(r, i));
    q(i, i) = static_cast<T>(1 - weight);
  }
}

template <typename T>
void copy_part(const Matrix<T>& from, const Matrix<T>& to, bool upper) {
  for (int64_t i = 0; i < to.rows; ++i) {
    for (int64_t j = 0; j < to.columns && j < from.columns; ++j) {
      if (upper) to(i, j) = i <= j ? from(i, j) : T(0);
      if (!upper && i > j) to(i, j) = from(i, j);
    }
  }
}

// A is factored in the memory of Q if it has more rows than columns, otherwise in that of R: there
// is room for it in either case.
template <typename T>
void factor_all(const Tensor& a, Tensor& q_out, Tensor& r_out) {
  for (int64_t batch = 0; batch < batches(a, 2); ++batch) {
    const Matrix<T> in = matrix_of<T>(a, batch);
    const Matrix<T> q = matrix_of<T>(q_out, batch), r = matrix_of<T>(r_out, batch);
    const bool tall = in.rows > in.columns;
    Matrix<T> work = tall ? q : r;
    work.columns = in.columns;
    for (int64_t i = 0; i < in.rows; ++i) {
      for (int64_t j = 0; j < in.columns; ++j) work(i, j) = in(i, j);
    }
    factor(work);
    copy_part(work, tall ? r : q, tall);
    if (!tall) copy_part(work, r, true);
    gather_q(q, tall ? in.columns : in.rows);
  }
}

Status qr(KernelContext&, const Tensor& self, std::string_view mode, Tensor& q, Tensor& r) {
  TAPER_TRY(check_matrices(self));
  TAPER_REQUIRE(mode == "reduced" || mode == "complete", Error::kInvalidArgument,
                "linalg_qr: the mode must be \"reduced\" or \"complete\"");
  const auto rank = static_cast<size_t>(self.dim());
  const int64_t rows = self.sizes()[rank - 2], columns = self.sizes()[rank - 1];
  const int64_t inner = mode == "complete" || rows < columns ? rows : columns;
  TAPER_TRY(resize_matrices(q, self, rows, inner));
  TAPER_TRY(resize_matrices(r, self, inner, columns));
  return with_float_type(self.scalar_type(), [&](auto zero) {
    factor_all<decltype(zero)>(self, q, r);
    return Status();
  });
}

}  // namespace

extern const Kernel kLinalgQrOut;
const Kernel kLinalgQrOut = make_kernel<qr>("aten::linalg_qr.out");

}  // namespace taper::portable
