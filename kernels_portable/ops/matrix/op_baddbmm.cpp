// aten::baddbmm.out: beta * self + alpha * (batch1 x batch2), where self broadcasts to the batch of
// products.

#include "kernels_portable/cores/matmul.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status baddbmm_out(KernelContext&, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                   Scalar beta, Scalar alpha, Tensor& out) {
  TAPER_REQUIRE(batch1.dim() == 3 && batch2.dim() == 3, Error::kInvalidArgument,
                "baddbmm: batch1 and batch2 must be batches of matrices");
  TAPER_REQUIRE(batch1.size(0) == batch2.size(0) && batch1.size(2) == batch2.size(1),
                Error::kInvalidArgument, "baddbmm: sizes of batch1 and batch2 do not fit");
  TAPER_TRY(check_product_types(batch1, batch2, out));
  TAPER_TRY(check_product_scalars(out.scalar_type(), alpha, beta));
  const int64_t sizes[] = {batch1.size(0), batch1.size(1), batch2.size(2)};
  TAPER_REQUIRE(self.scalar_type() == out.scalar_type(), Error::kInvalidType,
                "baddbmm: self must have the dtype of out");
  TAPER_REQUIRE(broadcasts_to(self, {sizes, 3}), Error::kInvalidArgument,
                "baddbmm: self does not broadcast to the products");
  TAPER_TRY(resize_out(out, sizes, 3));
  for (int64_t b = 0; b < sizes[0]; ++b) {
    const MatrixView added = broadcast_matrix(self, b);
    matmul({sizes[1], sizes[2], batch1.size(2), matrix_of(batch1, b), matrix_of(batch2, b),
            matrix_of(out, b), &added, alpha, beta});
  }
  return {};
}

}  // namespace

extern const Kernel kBaddbmmOut;
const Kernel kBaddbmmOut = make_kernel<baddbmm_out>("aten::baddbmm.out");

}  // namespace taper::portable
