// aten::unfold_copy.out: windows of `size` indices of a dimension, `step` indices apart. The
// dimension becomes that of the windows; a new last dimension holds the elements of each.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status unfold_copy(KernelContext&, const Tensor& self, int64_t dim, int64_t size, int64_t step,
                   Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "unfold_copy: out must have the dtype of self");
  int64_t wrapped = 0;
  TAPER_TRY(wrap_dim(dim, self.dim(), &wrapped));
  View view = view_of(self);
  const size_t d = static_cast<size_t>(wrapped);
  const int64_t length = view.rank == 0 ? 1 : view.sizes[d];
  TAPER_REQUIRE(size >= 0 && size <= length && step > 0 && view.rank < kMaxRank,
                Error::kInvalidArgument,
                "unfold_copy: size must fit the dimension and step be positive");
  if (view.rank == 0) {
    view.add_dim(size, 1);
    return write_view(view, out);
  }
  const int64_t stride = view.strides[d];
  view.sizes[d] = (length - size) / step + 1;
  view.strides[d] = view.sizes[d] > 1 ? stride * step : stride;
  view.add_dim(size, stride);
  return write_view(view, out);
}

}  // namespace

extern const Kernel kUnfoldCopyOut;
const Kernel kUnfoldCopyOut = make_kernel<unfold_copy>("aten::unfold_copy.out");

}  // namespace taper::portable
