// aten::gt: out = self > other, broadcast.
//
//   Types     compared in the promoted dtype; the result is a bool, which any out dtype holds.
//             Comparison with NaN is false.
//   Overloads Tensor_out, Scalar_out.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Greater {
  template <typename C>
  C operator()(C a, C b) const {
    return a > b ? C{1} : C{0};
  }
};

Status gt_tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary_to_bool(Greater{}, self, other, out);
}

Status gt_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return binary_to_bool(Greater{}, self, other, out);
}

}  // namespace

extern const Kernel kGtTensorOut;
extern const Kernel kGtScalarOut;
const Kernel kGtTensorOut = make_kernel<gt_tensor_out>("aten::gt.Tensor_out");
const Kernel kGtScalarOut = make_kernel<gt_scalar_out>("aten::gt.Scalar_out");

}  // namespace taper::portable
