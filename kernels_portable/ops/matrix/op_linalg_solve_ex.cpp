// aten::_linalg_solve_ex.result: x with A x = B, by LU.
//
//   A     [..., n, n], B [..., n, k] with the same leading sizes, float or double.
//   left  false solves x A = B, with x and B [..., k, n]; then LU is that of the transposed A.
//   out   x [..., n, k], LU [..., n, n], pivots int32 [..., n], info int32 [...]: 0, or the number
//         of the first pivot that is zero, counted from one, which is an error if `check_errors`.

#include "kernels_portable/cores/linalg.h"
#include "kernels_portable/engine/compute.h"

namespace taper::portable {
namespace {

// x A = B (`left` is false) is solved as A^T x^T = B^T.
template <typename T>
Status solve_all(bool left, bool check, Tensor& result, Tensor& lu, Tensor& pivots, Tensor& info) {
  auto* rows = static_cast<int32_t*>(pivots.mutable_data());
  const int64_t stride = pivots.strides()[static_cast<size_t>(pivots.dim()) - 1];
  for (int64_t batch = 0; batch < batches(lu, 2); ++batch) {
    const Matrix<T> a = matrix_of<T>(lu, batch), all = matrix_of<T>(result, batch);
    const Matrix<T> x = left ? all : all.transposed();
    int32_t* order = rows + batch_offset(pivots, 1, batch);
    const Factored found = lu_factor(a, order, stride);
    static_cast<int32_t*>(info.mutable_data())[batch_offset(info, 0, batch)] = found.singular;
    TAPER_REQUIRE(!check || found.singular == 0, Error::kInvalidArgument,
                  "linalg_solve: a matrix is singular");
    for (int64_t k = 0; k < a.rows; ++k) {
      const int64_t other = order[k * stride] - 1;
      for (int64_t j = 0; other != k && j < x.columns; ++j) std::swap(x(k, j), x(other, j));
    }
    solve_triangle(a, false, true, x);
    solve_triangle(a, true, false, x);
  }
  return {};
}

Status solve(KernelContext&, const Tensor& a, const Tensor& b, bool left, bool check_errors,
             Tensor& result, Tensor& lu, Tensor& pivots, Tensor& info) {
  TAPER_TRY(check_square(a));
  TAPER_TRY(check_sides(a, b, left));
  TAPER_TRY(resize_leading(result, b, 0, a.scalar_type()));
  TAPER_TRY(resize_leading(lu, a, 0, a.scalar_type()));
  TAPER_TRY(resize_leading(pivots, a, 1, ScalarType::kInt));
  TAPER_TRY(resize_leading(info, a, 2, ScalarType::kInt));
  copy_matrices(a, !left, lu);
  copy_matrices(b, false, result);
  return with_float_type(a.scalar_type(), [&](auto zero) {
    return solve_all<decltype(zero)>(left, check_errors, result, lu, pivots, info);
  });
}

}  // namespace

extern const Kernel kLinalgSolveExResult;
const Kernel kLinalgSolveExResult = make_kernel<solve>("aten::_linalg_solve_ex.result");

}  // namespace taper::portable
