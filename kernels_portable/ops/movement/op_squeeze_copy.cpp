// aten::squeeze_copy.out, .dim_out and .dims_out, and unsqueeze_copy.out: dimensions of size 1
// removed or inserted.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status write_resized(const Tensor& self, const View& shape, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "squeeze_copy: out must have the dtype of self");
  TAPER_TRY(resize_out(out, shape.sizes, shape.rank));
  copy_row_major(self, out);
  return {};
}

// Removes those dimensions in `mask` that have size 1.
Status squeeze_masked(const Tensor& self, DimMask mask, Tensor& out) {
  View shape;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if ((mask >> d & 1) == 0 || self.size(d) != 1) shape.add_dim(self.size(d), 0);
  }
  return write_resized(self, shape, out);
}

Status squeeze_copy(KernelContext&, const Tensor& self, Tensor& out) {
  return squeeze_masked(self, ~DimMask{0}, out);
}

Status squeeze_copy_dims(KernelContext&, const Tensor& self, IntList dims, Tensor& out) {
  DimMask mask = 0;
  if (!dims.empty()) TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  return squeeze_masked(self, mask, out);
}

Status squeeze_copy_dim(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  return squeeze_copy_dims(context, self, {&dim, 1}, out);
}

Status unsqueeze_copy(KernelContext&, const Tensor& self, int64_t dim, Tensor& out) {
  TAPER_REQUIRE(self.dim() < static_cast<int64_t>(kMaxRank), Error::kInvalidArgument,
                "unsqueeze_copy: self already has 16 dimensions, the most that are supported");
  int64_t position = 0;
  TAPER_TRY(wrap_dim(dim, self.dim() + 1, &position));
  View shape = view_of(self);
  shape.insert_dim(static_cast<size_t>(position), 1, 0);
  return write_resized(self, shape, out);
}

}  // namespace

extern const Kernel kSqueezeCopyOut;
const Kernel kSqueezeCopyOut =
    make_kernel<squeeze_copy, Takes::kComplexToo>("aten::squeeze_copy.out");
extern const Kernel kSqueezeCopyDimOut;
const Kernel kSqueezeCopyDimOut =
    make_kernel<squeeze_copy_dim, Takes::kComplexToo>("aten::squeeze_copy.dim_out");
extern const Kernel kSqueezeCopyDimsOut;
const Kernel kSqueezeCopyDimsOut =
    make_kernel<squeeze_copy_dims, Takes::kComplexToo>("aten::squeeze_copy.dims_out");
extern const Kernel kUnsqueezeCopyOut;
const Kernel kUnsqueezeCopyOut =
    make_kernel<unsqueeze_copy, Takes::kComplexToo>("aten::unsqueeze_copy.out");

}  // namespace taper::portable
