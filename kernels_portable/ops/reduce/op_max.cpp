// aten::max: the largest element, of all (unary_out) or along dim with its index (dim_max).
//
//   Any dtype, kept; indices are int64. Of equal elements the first is found; NaN counts as the
//   largest.

#include "kernels_portable/engine/extreme.h"

namespace taper::portable {
namespace {

Status max_dim(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
               Tensor& indices) {
  return find_extreme(Extreme::kMax, self, dim, keepdim, &values, &indices);
}

Status max_unary_out(KernelContext&, const Tensor& self, Tensor& out) {
  return find_extreme(Extreme::kMax, self, std::nullopt, false, &out, nullptr);
}

}  // namespace

extern const Kernel kMaxDimMax;
extern const Kernel kMaxUnaryOut;
const Kernel kMaxDimMax = make_kernel<max_dim>("aten::max.dim_max");
const Kernel kMaxUnaryOut = make_kernel<max_unary_out>("aten::max.unary_out");

}  // namespace taper::portable
