// aten::select_copy.int_out: the slice at one index of a dimension, which is removed.

#include "kernels_portable/engine/slice.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status select_copy(KernelContext&, const Tensor& self, int64_t dim, int64_t index, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "select_copy: out must have the dtype of self");
  View view = view_of(self);
  TAPER_TRY(select_view(&view, dim, index, element_size(self.scalar_type())));
  return write_view(view, out);
}

}  // namespace

extern const Kernel kSelectCopyIntOut;
const Kernel kSelectCopyIntOut =
    make_kernel<select_copy, Takes::kComplexToo>("aten::select_copy.int_out");

}  // namespace taper::portable
