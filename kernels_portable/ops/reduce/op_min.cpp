// aten::min: the smallest element, of all (unary_out) or along dim with its index (dim_min).
//
//   Any dtype, kept; indices are int64. Of equal elements the first is found; NaN counts as the
//   smallest.

#include "kernels_portable/engine/extreme.h"

namespace taper::portable {
namespace {

Status min_dim(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
               Tensor& indices) {
  return find_extreme(Extreme::kMin, self, dim, keepdim, &values, &indices);
}

Status min_unary_out(KernelContext&, const Tensor& self, Tensor& out) {
  return find_extreme(Extreme::kMin, self, std::nullopt, false, &out, nullptr);
}

}  // namespace

extern const Kernel kMinDimMin;
extern const Kernel kMinUnaryOut;
const Kernel kMinDimMin = make_kernel<min_dim>("aten::min.dim_min");
const Kernel kMinUnaryOut = make_kernel<min_unary_out>("aten::min.unary_out");

}  // namespace taper::portable
