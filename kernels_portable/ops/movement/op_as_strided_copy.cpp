// aten::as_strided_copy.out: the memory of self read with the given sizes, strides and offset, in
// elements. All elements that they reach must lie in self.

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status as_strided_copy(KernelContext&, const Tensor& self, IntList size, IntList stride,
                       std::optional<int64_t> storage_offset, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "as_strided_copy: out must have the dtype of self");
  TAPER_REQUIRE(size.size() == stride.size() && size.size() <= kMaxRank, Error::kInvalidArgument,
                "as_strided_copy: there must be one stride for each size");
  View view;
  int64_t last = storage_offset.value_or(0);  // The farthest element that is read.
  const int64_t first = last;
  bool fits = first >= 0;
  for (size_t d = 0; d < size.size(); ++d) {
    TAPER_REQUIRE(size[d] >= 0 && stride[d] >= 0, Error::kInvalidArgument,
                  "as_strided_copy: a size or stride is negative");
    view.add_dim(size[d], stride[d]);
    int64_t span = 0;
    fits = fits && (size[d] == 0 ||
                    (checked_mul(size[d] - 1, stride[d], &span) && checked_add(last, span, &last)));
  }
  if (!view.is_empty()) {
    TAPER_REQUIRE(fits && last < self.numel(), Error::kInvalidArgument,
                  "as_strided_copy: sizes and strides reach beyond the memory of self");
    const int64_t bytes = static_cast<int64_t>(element_size(self.scalar_type()));
    view.data = static_cast<char*>(self.mutable_data()) + first * bytes;
  }
  return write_view(view, out);
}

}  // namespace

extern const Kernel kAsStridedCopyOut;
const Kernel kAsStridedCopyOut = make_kernel<as_strided_copy>("aten::as_strided_copy.out");

}  // namespace taper::portable
