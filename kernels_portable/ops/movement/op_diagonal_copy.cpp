// aten::diagonal_copy.out: the elements (i, i + offset) of two dimensions, as a new last dimension.

#include "kernels_portable/engine/slice.h"
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
