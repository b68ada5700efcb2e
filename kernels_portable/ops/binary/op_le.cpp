// aten::le: out = self <= other, broadcast.
//
//   Types     compared in the promoted dtype; the result is a bool, which any out dtype holds.
//             Comparison with NaN is false.
//   Overloads Tensor_out, Scalar_out.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct LessEqual {
  template <typename C>
  C operator()(C a, C b) const {
    return a <= b ? C{1} : C{0};
  }
};

Status le_tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary_to_bool(LessEqual{}, self, other, out);
}

Status le_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return binary_to_bool(LessEqual{}, self, other, out);
}

}  // namespace

extern const Kernel kLeTensorOut;
extern const Kernel kLeScalarOut;
const Kernel kLeTensorOut = make_kernel<le_tensor_out>("aten::le.Tensor_out");
const Kernel kLeScalarOut = make_kernel<le_scalar_out>("aten::le.Scalar_out");

}  // namespace taper::portable
