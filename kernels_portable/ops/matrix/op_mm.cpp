// aten::mm.out: the product of an [n, k] and a [k, m] matrix.
//
//   Types  floating point and integers, one dtype for all. Half and bfloat16 are summed as float
//          and rounded once; integers wrap around.

#include "kernels_portable/cores/matmul.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status mm_out(KernelContext&, const Tensor& self, const Tensor& mat2, Tensor& out) {
  TAPER_REQUIRE(self.dim() == 2 && mat2.dim() == 2, Error::kInvalidArgument,
                "mm: operands must be matrices");
  TAPER_REQUIRE(self.size(1) == mat2.size(0), Error::kInvalidArgument,
                "mm: columns of self and rows of mat2 differ");
  TAPER_TRY(check_product_types(self, mat2, out));
  const int64_t sizes[] = {self.size(0), mat2.size(1)};
  TAPER_TRY(resize_out(out, sizes, 2));
  matmul({sizes[0], sizes[1], self.size(1), matrix_of(self), matrix_of(mat2), matrix_of(out)});
  return {};
}

}  // namespace

extern const Kernel kMmOut;
const Kernel kMmOut = make_kernel<mm_out>("aten::mm.out");

}  // namespace taper::portable
