// aten::argmin.out: the index of the smallest element along dim, int64.
//
//   Without dim, the index into the tensor flattened in row-major order. Of equal elements the
//   first is found; NaN counts as the smallest.

#include "kernels_portable/engine/extreme.h"

namespace taper::portable {
namespace {

Status argmin_out(KernelContext&, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                  Tensor& out) {
  return find_extreme(Extreme::kMin, self, dim, keepdim, nullptr, &out);
}

}  // namespace

extern const Kernel kArgminOut;
const Kernel kArgminOut = make_kernel<argmin_out>("aten::argmin.out");

}  // namespace taper::portable
