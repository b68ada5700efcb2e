// aten::expand_copy.out: self broadcast to given sizes; new dimensions come first.
//
//   Sizes  -1 keeps the size of an existing dimension.

#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status expand_copy(KernelContext&, const Tensor& self, IntList size, bool, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "expand_copy: out must have the dtype of self");
  const View from = view_of(self);
  TAPER_REQUIRE(size.size() >= from.rank && size.size() <= kMaxRank, Error::kInvalidArgument,
                "expand_copy: size must name every dimension of self");
  const size_t added = size.size() - from.rank;
  View to;
  for (size_t d = 0; d < size.size(); ++d) {
    const bool own = d >= added;
    const int64_t had = own ? from.sizes[d - added] : 1;
    const int64_t wanted = own && size[d] == -1 ? had : size[d];
    TAPER_REQUIRE(wanted >= 0 && (had == 1 || had == wanted), Error::kInvalidArgument,
                  "expand_copy: only a dimension of size 1 can be expanded");
    to.add_dim(wanted, 0);
  }
  return write_view(broadcast_view(from, to), out);
}

}  // namespace

extern const Kernel kExpandCopyOut;
const Kernel kExpandCopyOut = make_kernel<expand_copy, Takes::kComplexToo>("aten::expand_copy.out");

}  // namespace taper::portable
