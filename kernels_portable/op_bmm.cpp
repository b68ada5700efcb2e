// aten::bmm.out: the products of the matrices of two batches, [b, n, k] and [b, k, m].

#include "kernels_portable/matmul.h"
#include "kernels_portable/view.h"

namespace taper::portable {
namespace {

Status bmm_out(KernelContext&, const Tensor& self, const Tensor& mat2, Tensor& out) {
  TAPER_REQUIRE(self.dim() == 3 && mat2.dim() == 3, Error::kInvalidArgument,
                "bmm: operands must be batches of matrices");
  TAPER_REQUIRE(self.size(0) == mat2.size(0) && self.size(2) == mat2.size(1),
                Error::kInvalidArgument, "bmm: sizes of self and mat2 do not fit");
  TAPER_TRY(check_product_types(self, mat2, out));
  const int64_t sizes[] = {self.size(0), self.size(1), mat2.size(2)};
  TAPER_TRY(resize_out(out, sizes, 3));
  for (int64_t b = 0; b < sizes[0]; ++b) {
    matmul({sizes[1], sizes[2], self.size(2), matrix_of(self, b), matrix_of(mat2, b),
            matrix_of(out, b)});
  }
  return {};
}

}  // namespace

extern const Kernel kBmmOut;
const Kernel kBmmOut = make_kernel<bmm_out>("aten::bmm.out");

}  // namespace taper::portable
