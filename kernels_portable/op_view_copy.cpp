// aten::view_copy.out and aten::_unsafe_view.out: the elements of self in row-major order under
// other sizes. One size may be -1: it is what the others leave.

#include "kernels_portable/arith.h"
#include "kernels_portable/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status view_copy(KernelContext&, const Tensor& self, IntList size, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "view_copy: out must have the dtype of self");
  TAPER_REQUIRE(size.size() <= kMaxRank, Error::kInvalidArgument, "view_copy: too many sizes");
  int64_t sizes[kMaxRank];
  int64_t known = 1;
  size_t free_dim = kMaxRank;
  for (size_t d = 0; d < size.size(); ++d) {
    sizes[d] = size[d];
    if (size[d] == -1 && free_dim == kMaxRank) {
      free_dim = d;
      continue;
    }
    TAPER_REQUIRE(size[d] >= 0 && checked_mul(known, size[d], &known), Error::kInvalidArgument,
                  "view_copy: a size is negative or too large");
  }
  if (free_dim != kMaxRank) {
    TAPER_REQUIRE(known > 0 && self.numel() % known == 0, Error::kInvalidArgument,
                  "view_copy: no size fits for -1");
    sizes[free_dim] = self.numel() / known;
    known = self.numel();
  }
  TAPER_REQUIRE(known == self.numel(), Error::kInvalidArgument,
                "view_copy: the sizes must keep the number of elements");
  TAPER_TRY(resize_out(out, sizes, size.size()));
  copy_row_major(self, out);
  return {};
}

}  // namespace

extern const Kernel kViewCopyOut;
const Kernel kViewCopyOut = make_kernel<view_copy>("aten::view_copy.out");
extern const Kernel kUnsafeViewOut;
const Kernel kUnsafeViewOut = make_kernel<view_copy>("aten::_unsafe_view.out");

}  // namespace taper::portable
