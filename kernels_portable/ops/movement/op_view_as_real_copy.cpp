// aten::view_as_real_copy.out: the parts of a complex tensor in a new last dimension of size 2.

#include "kernels_portable/engine/complex.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status view_as_real_copy(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_TRY(check_parts(self));
  TAPER_REQUIRE(out.scalar_type() == part_type(self.scalar_type()), Error::kInvalidType,
                "view_as_real_copy: out must have the dtype of the parts of self");
  Parts parts(self);
  return write_view(view_of(parts.tensor()), out);
}

}  // namespace

extern const Kernel kViewAsRealCopyOut;
const Kernel kViewAsRealCopyOut =
    make_kernel<view_as_real_copy, Takes::kComplexToo>("aten::view_as_real_copy.out");

}  // namespace taper::portable
