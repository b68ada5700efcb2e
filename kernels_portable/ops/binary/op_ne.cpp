// aten::ne: out = self != other, broadcast.
//
//   Types     compared in the promoted dtype; the result is a bool, which any out dtype holds.
//             NaN differs from everything.
//   Overloads Tensor_out, Scalar_out.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct NotEqual {
  template <typename C>
  C operator()(C a, C b) const {
    return a != b ? C{1} : C{0};
  }
};

Status ne_tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary_to_bool(NotEqual{}, self, other, out);
}

Status ne_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return binary_to_bool(NotEqual{}, self, other, out);
}

}  // namespace

extern const Kernel kNeTensorOut;
extern const Kernel kNeScalarOut;
const Kernel kNeTensorOut = make_kernel<ne_tensor_out>("aten::ne.Tensor_out");
const Kernel kNeScalarOut = make_kernel<ne_scalar_out>("aten::ne.Scalar_out");

}  // namespace taper::portable
