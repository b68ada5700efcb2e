// aten::view_copy.dtype_out: the bytes of self as elements of another dtype. If those are narrower
// or wider, the last size is multiplied or divided by as much. Complex dtypes are not taken.

#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status view_copy_dtype(KernelContext&, const Tensor& self, int64_t dtype, Tensor& out) {
  TAPER_REQUIRE(dtype == static_cast<int64_t>(out.scalar_type()), Error::kInvalidType,
                "view_copy: the argument dtype must be the dtype of out");
  const auto from = static_cast<int64_t>(element_size(self.scalar_type()));
  const auto to = static_cast<int64_t>(element_size(out.scalar_type()));
  const size_t rank = self.sizes().size();
  int64_t sizes[kMaxRank];
  for (size_t d = 0; d < rank; ++d) sizes[d] = self.size(static_cast<int64_t>(d));
  if (from != to) {
    TAPER_REQUIRE(rank > 0, Error::kInvalidArgument,
                  "view_copy: without dimensions, self and out must have elements of one size");
    TAPER_REQUIRE(sizes[rank - 1] * from % to == 0, Error::kInvalidArgument,
                  "view_copy: the last dimension is not a whole number of elements of dtype");
    sizes[rank - 1] = sizes[rank - 1] * from / to;
  }
  TAPER_TRY(resize_out(out, sizes, rank));
  View written = view_of(out);
  if (from != to) {
    TAPER_REQUIRE(out.is_contiguous(), Error::kNotSupported, "view_copy: out must be contiguous");
    int64_t stride = 1;
    for (size_t d = rank; d-- > 0; stride *= written.sizes[d]) {
      written.sizes[d] = self.size(static_cast<int64_t>(d));
      written.strides[d] = stride;
    }
  }
  copy_view(written, view_of(self), static_cast<size_t>(from));
  return {};
}

}  // namespace

extern const Kernel kViewCopyDtypeOut;
const Kernel kViewCopyDtypeOut = make_kernel<view_copy_dtype>("aten::view_copy.dtype_out");

}  // namespace taper::portable
