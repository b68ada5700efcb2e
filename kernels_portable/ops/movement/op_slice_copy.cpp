// aten::slice_copy.Tensor_out: every step-th element of dimension `dim` from start up to end.
//
//   Bounds  count from the end if negative, and are clamped to the dimension, as in Python.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/slice.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status slice_copy(KernelContext&, const Tensor& self, int64_t dim, std::optional<int64_t> start,
                  std::optional<int64_t> end, int64_t step, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "slice_copy: out must have the dtype of self");
  View view = view_of(self);
  TAPER_TRY(slice_view(&view, dim, start, end, step, element_size(self.scalar_type())));
  return write_view(view, out);
}

}  // namespace

extern const Kernel kSliceCopyTensorOut;
const Kernel kSliceCopyTensorOut =
    make_kernel<slice_copy, Takes::kComplexToo>("aten::slice_copy.Tensor_out");

}  // namespace taper::portable
