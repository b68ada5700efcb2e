// aten::eq: out = self == other, broadcast.
//
//   Types     compared in the promoted dtype; the result is a bool, which any out dtype holds.
//             NaN equals nothing.
//   Overloads Tensor_out, Scalar_out.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Equal {
  template <typename C>
  C operator()(C a, C b) const {
    return a == b ? C{1} : C{0};
  }
};

Status eq_tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary_to_bool(Equal{}, self, other, out);
}

Status eq_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return binary_to_bool(Equal{}, self, other, out);
}

}  // namespace

extern const Kernel kEqTensorOut;
extern const Kernel kEqScalarOut;
const Kernel kEqTensorOut = make_kernel<eq_tensor_out>("aten::eq.Tensor_out");
const Kernel kEqScalarOut = make_kernel<eq_scalar_out>("aten::eq.Scalar_out");

}  // namespace taper::portable
