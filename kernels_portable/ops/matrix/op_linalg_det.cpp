// aten::_linalg_det.result and _linalg_slogdet.sign: determinants, by LU.
//
//   A    [..., n, n], float or double. The determinant of a matrix without rows is 1.
//   out  the determinant [...] (or its sign and the logarithm of its magnitude: 0 and -inf where it
//        is 0), LU [..., n, n] of the transposed A as in PyTorch, pivots int32 [..., n].

#include <limits>

#include "kernels_portable/cores/linalg.h"
#include "kernels_portable/engine/compute.h"

namespace taper::portable {
namespace {

Status prepare(const Tensor& a, Tensor& lu, Tensor& pivots) {
  TAPER_TRY(check_square(a));
  TAPER_TRY(resize_leading(lu, a, 0, a.scalar_type()));
  TAPER_TRY(resize_leading(pivots, a, 1, ScalarType::kInt));
  copy_matrices(a, true, lu);
  return {};
}

// Factors every matrix in place and calls each(batch, LU, swaps).
template <typename T, typename Each>
void factor_all(Tensor& lu, Tensor& pivots, Each each) {
  auto* rows = static_cast<int32_t*>(pivots.mutable_data());
  const int64_t stride = pivots.strides()[static_cast<size_t>(pivots.dim()) - 1];
  for (int64_t batch = 0; batch < batches(lu, 2); ++batch) {
    const Matrix<T> matrix = matrix_of<T>(lu, batch);
    const Factored found = lu_factor(matrix, rows + batch_offset(pivots, 1, batch), stride);
    each(batch, matrix, found.swaps);
  }
}

template <typename T>
void determinants(Tensor& result, Tensor& lu, Tensor& pivots) {
  factor_all<T>(lu, pivots, [&](int64_t batch, const Matrix<T>& matrix, int64_t swaps) {
    T product = swaps % 2 == 0 ? T(1) : T(-1);
    for (int64_t k = 0; k < matrix.rows; ++k) product *= matrix(k, k);
    static_cast<T*>(result.mutable_data())[batch_offset(result, 0, batch)] = product;
  });
}

template <typename T>
void logarithms(Tensor& sign, Tensor& logabsdet, Tensor& lu, Tensor& pivots) {
  factor_all<T>(lu, pivots, [&](int64_t batch, const Matrix<T>& matrix, int64_t swaps) {
    T side = swaps % 2 == 0 ? T(1) : T(-1), sum = 0;
    for (int64_t k = 0; k < matrix.rows; ++k) {
      const T pivot = matrix(k, k);
      side *= pivot > 0 ? T(1) : (pivot < 0 ? T(-1) : pivot);
      sum += std::log(std::abs(pivot));
    }
    static_cast<T*>(sign.mutable_data())[batch_offset(sign, 0, batch)] = side;
    static_cast<T*>(logabsdet.mutable_data())[batch_offset(logabsdet, 0, batch)] = sum;
  });
}

Status det(KernelContext&, const Tensor& a, Tensor& result, Tensor& lu, Tensor& pivots) {
  TAPER_TRY(prepare(a, lu, pivots));
  TAPER_TRY(resize_leading(result, a, 2, a.scalar_type()));
  return with_float_type(a.scalar_type(), [&](auto zero) {
    determinants<decltype(zero)>(result, lu, pivots);
    return Status();
  });
}

Status slogdet(KernelContext&, const Tensor& a, Tensor& sign, Tensor& logabsdet, Tensor& lu,
               Tensor& pivots) {
  TAPER_TRY(prepare(a, lu, pivots));
  TAPER_TRY(resize_leading(sign, a, 2, a.scalar_type()));
  TAPER_TRY(resize_leading(logabsdet, a, 2, a.scalar_type()));
  return with_float_type(a.scalar_type(), [&](auto zero) {
    logarithms<decltype(zero)>(sign, logabsdet, lu, pivots);
    return Status();
  });
}

}  // namespace

extern const Kernel kLinalgDetResult;
const Kernel kLinalgDetResult = make_kernel<det>("aten::_linalg_det.result");
extern const Kernel kLinalgSlogdetSign;
const Kernel kLinalgSlogdetSign = make_kernel<slogdet>("aten::_linalg_slogdet.sign");

}  // namespace taper::portable
