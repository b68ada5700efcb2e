// aten::argmax.out: the index of the largest element along dim, int64.
//
//   Without dim, the index into the tensor flattened in row-major order. Of equal elements the
//   first is found; NaN counts as the largest.

#include "kernels_portable/engine/extreme.h"

namespace taper::portable {
namespace {

Status argmax_out(KernelContext&, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                  Tensor& out) {
  return find_extreme(Extreme::kMax, self, dim, keepdim, nullptr, &out);
}

}  // namespace

extern const Kernel kArgmaxOut;
const Kernel kArgmaxOut = make_kernel<argmax_out>("aten::argmax.out");

}  // namespace taper::portable
