// aten::diagonal_copy.out: the elements of two dimensions at i and i + offset, as a last dimension.

#include "kernels_portable/slice.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status diagonal_copy(KernelContext&, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2,
                     Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "diagonal_copy: out must have the dtype of self");
  View view = view_of(self);
  TAPER_TRY(diagonal_view(&view, offset, dim1, dim2, element_size(self.scalar_type())));
  return write_view(view, out);
}

}  // namespace

extern const Kernel kDiagonalCopyOut;
const Kernel kDiagonalCopyOut = make_kernel<diagonal_copy>("aten::diagonal_copy.out");

}  // namespace taper::portable
