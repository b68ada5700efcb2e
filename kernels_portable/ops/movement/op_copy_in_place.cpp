// aten::copy_: writes the elements of src to self, converted to its dtype and broadcast to its
// sizes.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

Status copy_(KernelContext&, Tensor& self, const Tensor& src, bool) {
  Sizes sizes;
  TAPER_TRY(broadcast_sizes(self.sizes(), src.sizes(), &sizes));
  bool same = static_cast<int64_t>(sizes.rank) == self.dim();
  for (int64_t d = 0; same && d < self.dim(); ++d) same = sizes.values[d] == self.size(d);
  TAPER_REQUIRE(same, Error::kInvalidArgument, "copy_: src does not broadcast to self");
  return copy_elements(src, self);
}

}  // namespace

extern const Kernel kCopyInPlace;
const Kernel kCopyInPlace = make_kernel<copy_, Takes::kComplexToo>("aten::copy_");

}  // namespace taper::portable
