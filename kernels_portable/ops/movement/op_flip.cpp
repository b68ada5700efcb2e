// aten::flip.out: the elements along the given dims in reverse order, by a View with negative
// strides.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status flip(KernelContext&, const Tensor& self, IntList dims, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "flip: out must have the dtype of self");
  DimMask mask = 0;
  if (!dims.empty()) TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  View view = view_of(self);
  for (size_t d = 0; d < view.rank; ++d) {
    if ((mask >> d & 1) == 0) continue;
    view.advance(d, view.sizes[d] - 1, element_size(self.scalar_type()));
    view.strides[d] = -view.strides[d];
  }
  return write_view(view, out);
}

}  // namespace

extern const Kernel kFlipOut;
const Kernel kFlipOut = make_kernel<flip>("aten::flip.out");

}  // namespace taper::portable
