// aten::lt: out = self < other, broadcast.
//
//   Types     compared in the promoted dtype; the result is a bool, which any out dtype holds.
//             Comparison with NaN is false.
//   Overloads Tensor_out, Scalar_out.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Less {
  template <typename C>
  C operator()(C a, C b) const {
    return a < b ? C{1} : C{0};
  }
};

Status lt_tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary_to_bool(Less{}, self, other, out);
}

Status lt_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return binary_to_bool(Less{}, self, other, out);
}

}  // namespace

extern const Kernel kLtTensorOut;
extern const Kernel kLtScalarOut;
const Kernel kLtTensorOut = make_kernel<lt_tensor_out>("aten::lt.Tensor_out");
const Kernel kLtScalarOut = make_kernel<lt_scalar_out>("aten::lt.Scalar_out");

}  // namespace taper::portable
