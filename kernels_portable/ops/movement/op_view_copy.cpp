// aten::view_copy.out and aten::_unsafe_view.out: self reshaped, its elements in row-major order.
// One size may be -1 and is inferred from the others.

#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status view_copy(KernelContext&, const Tensor& self, IntList size, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "view_copy: out must have the dtype of self");
  int64_t sizes[kMaxRank];
  TAPER_TRY(infer_sizes(size, self.numel(), sizes));
  TAPER_TRY(resize_out(out, sizes, size.size()));
  copy_row_major(self, out);
  return {};
}

}  // namespace

extern const Kernel kViewCopyOut;
const Kernel kViewCopyOut = make_kernel<view_copy, Takes::kComplexToo>("aten::view_copy.out");
extern const Kernel kUnsafeViewOut;
const Kernel kUnsafeViewOut = make_kernel<view_copy, Takes::kComplexToo>("aten::_unsafe_view.out");

}  // namespace taper::portable
