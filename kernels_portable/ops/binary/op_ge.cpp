// aten::ge: out = self >= other, broadcast.
//
//   Types     compared in the promoted dtype; the result is a bool, which any out dtype holds.
//             Comparison with NaN is false.
//   Overloads Tensor_out, Scalar_out.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct GreaterEqual {
  template <typename C>
  C operator()(C a, C b) const {
    return a >= b ? C{1} : C{0};
  }
};

Status ge_tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary_to_bool(GreaterEqual{}, self, other, out);
}

Status ge_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return binary_to_bool(GreaterEqual{}, self, other, out);
}

}  // namespace

extern const Kernel kGeTensorOut;
extern const Kernel kGeScalarOut;
const Kernel kGeTensorOut = make_kernel<ge_tensor_out>("aten::ge.Tensor_out");
const Kernel kGeScalarOut = make_kernel<ge_scalar_out>("aten::ge.Scalar_out");

}  // namespace taper::portable
