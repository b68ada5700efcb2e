// aten::narrow_copy.out: `length` indices of a dimension from `start` on. Bounds are not clamped:
// what does not fit is refused.

#include "kernels_portable/engine/slice.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status narrow_copy(KernelContext&, const Tensor& self, int64_t dim, int64_t start, int64_t length,
                   Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "narrow_copy: out must have the dtype of self");
  View view = view_of(self);
  TAPER_TRY(narrow_view(&view, dim, start, length, element_size(self.scalar_type())));
  return write_view(view, out);
}

}  // namespace

extern const Kernel kNarrowCopyOut;
const Kernel kNarrowCopyOut = make_kernel<narrow_copy>("aten::narrow_copy.out");

}  // namespace taper::portable
