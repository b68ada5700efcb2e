// aten::linalg_cholesky_ex.L: the triangular matrix L with L L^T = A, or its transpose if `upper`.
//
//   self  A [..., n, n], float or double, symmetric; only one triangle is read.
//   out   L [..., n, n], with zeros in the other triangle; info int32 [...]: 0, or the order of the
//         first leading minor that is not positive definite, which is an error if `check_errors`.

#include "kernels_portable/cores/linalg.h"
#include "kernels_portable/engine/compute.h"

namespace taper::portable {
namespace {

// Factors the matrix in `l` in place, of which the lower triangle is read. The upper one holds
// copies of finished columns, as rows, until the end. Returns the first column that fails, counted
// from one, or 0.
template <typename T>
int32_t factor(const Matrix<T>& l) {
  const int64_t n = l.rows;
  int32_t failed = 0;
  for (int64_t j = 0; j < n; ++j) {
    if (!(l(j, j) > T(0))) {
      failed = static_cast<int32_t>(j + 1);
      break;
    }
    l(j, j) = std::sqrt(l(j, j));
    for (int64_t i = j + 1; i < n; ++i) l(j, i) = l(i, j) /= l(j, j);
    for (int64_t i = j + 1; i < n; ++i) subtract_row(l, i, l(i, j), l, j, j + 1, i + 1);
  }
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j + 1; i < n; ++i) l(j, i) = T(0);
  }
  return failed;
}

template <typename T>
Status factor_all(bool upper, bool check, Tensor& out, Tensor& info) {
  for (int64_t batch = 0; batch < batches(out, 2); ++batch) {
    const Matrix<T> matrix = matrix_of<T>(out, batch);
    const int32_t failed = factor(upper ? matrix.transposed() : matrix);
    static_cast<int32_t*>(info.mutable_data())[batch_offset(info, 0, batch)] = failed;
    TAPER_REQUIRE(!check || failed == 0, Error::kInvalidArgument,
                  "linalg_cholesky: a matrix is not positive definite");
  }
  return {};
}

Status cholesky(KernelContext&, const Tensor& self, bool upper, bool check_errors, Tensor& out,
                Tensor& info) {
  TAPER_TRY(check_square(self));
  TAPER_TRY(resize_leading(out, self, 0, self.scalar_type()));
  TAPER_TRY(resize_leading(info, self, 2, ScalarType::kInt));
  copy_matrices(self, false, out);
  return with_float_type(self.scalar_type(), [&](auto zero) {
    return factor_all<decltype(zero)>(upper, check_errors, out, info);
  });
}

}  // namespace

extern const Kernel kLinalgCholeskyExL;
const Kernel kLinalgCholeskyExL = make_kernel<cholesky>("aten::linalg_cholesky_ex.L");

}  // namespace taper::portable
