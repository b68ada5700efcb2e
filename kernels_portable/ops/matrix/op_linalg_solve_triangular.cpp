// aten::linalg_solve_triangular.out: x with A x = B, where A is triangular.
//
//   self   A [..., n, n], B [..., n, k] with the same leading sizes, float or double. The other
//          triangle of A is not read, nor the diagonal if `unitriangular`.
//   left   false solves x A = B, with x and B [..., k, n].
//   A zero on the diagonal gives infinities or NaN, as in PyTorch.

#include "kernels_portable/cores/linalg.h"
#include "kernels_portable/engine/compute.h"

namespace taper::portable {
namespace {

template <typename T>
void solve_all(const Tensor& a, bool upper, bool left, bool unit, Tensor& out) {
  for (int64_t batch = 0; batch < batches(a, 2); ++batch) {
    const Matrix<T> matrix = matrix_of<T>(a, batch), x = matrix_of<T>(out, batch);
    if (left) {
      solve_triangle(matrix, upper, unit, x);
    } else {  // Solves x A = B as A^T x^T = B^T.
      solve_triangle(matrix.transposed(), !upper, unit, x.transposed());
    }
  }
}

Status solve_triangular(KernelContext&, const Tensor& self, const Tensor& b, bool upper, bool left,
                        bool unitriangular, Tensor& out) {
  TAPER_TRY(check_square(self));
  TAPER_TRY(check_sides(self, b, left));
  TAPER_TRY(resize_leading(out, b, 0, self.scalar_type()));
  copy_matrices(b, false, out);
  return with_float_type(self.scalar_type(), [&](auto zero) {
    solve_all<decltype(zero)>(self, upper, left, unitriangular, out);
    return Status();
  });
}

}  // namespace

extern const Kernel kSolveTriangularOut;
const Kernel kSolveTriangularOut =
    make_kernel<solve_triangular>("aten::linalg_solve_triangular.out");

}  // namespace taper::portable
