// aten::view_as_complex_copy.out: the pairs in the last dimension of size 2 as complex numbers.

#include "kernels_portable/engine/complex.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status view_as_complex_copy(KernelContext&, const Tensor& self, Tensor& out) {
  const size_t rank = self.dim();
  TAPER_REQUIRE(rank > 0 && self.sizes()[rank - 1] == 2, Error::kInvalidArgument,
                "view_as_complex_copy: the last dimension of self must have size 2");
  TAPER_REQUIRE(is_complex(out.scalar_type()) && part_type(out.scalar_type()) == self.scalar_type(),
                Error::kInvalidType,
                "view_as_complex_copy: out must have the complex dtype with the parts of self");
  TAPER_TRY(out.resize({self.sizes().data(), rank - 1}));
  Parts parts(out);
  return write_view(view_of(self), parts.tensor());
}

}  // namespace

extern const Kernel kViewAsComplexCopyOut;
const Kernel kViewAsComplexCopyOut =
    make_kernel<view_as_complex_copy, Takes::kComplexToo>("aten::view_as_complex_copy.out");

}  // namespace taper::portable
