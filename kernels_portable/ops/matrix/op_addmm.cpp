// aten::addmm.out: beta * self + alpha * (mat1 x mat2), where self broadcasts to the product.
//
//   beta  0 means that self is not read: its NaNs do not propagate.

#include "kernels_portable/cores/matmul.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status addmm_out(KernelContext&, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                 Scalar beta, Scalar alpha, Tensor& out) {
  TAPER_REQUIRE(mat1.dim() == 2 && mat2.dim() == 2, Error::kInvalidArgument,
                "addmm: mat1 and mat2 must be matrices");
  TAPER_REQUIRE(mat1.size(1) == mat2.size(0), Error::kInvalidArgument,
                "addmm: columns of mat1 and rows of mat2 differ");
  TAPER_TRY(check_product_types(mat1, mat2, out));
  TAPER_TRY(check_product_scalars(out.scalar_type(), alpha, beta));
  const int64_t sizes[] = {mat1.size(0), mat2.size(1)};
  TAPER_REQUIRE(self.scalar_type() == out.scalar_type(), Error::kInvalidType,
                "addmm: self must have the dtype of out");
  TAPER_REQUIRE(broadcasts_to(self, {sizes, 2}), Error::kInvalidArgument,
                "addmm: self does not broadcast to the product");
  TAPER_TRY(resize_out(out, sizes, 2));
  const MatrixView added = broadcast_matrix(self);
  matmul({sizes[0], sizes[1], mat1.size(1), matrix_of(mat1), matrix_of(mat2), matrix_of(out),
          &added, alpha, beta});
  return {};
}

}  // namespace

extern const Kernel kAddmmOut;
const Kernel kAddmmOut = make_kernel<addmm_out>("aten::addmm.out");

}  // namespace taper::portable
