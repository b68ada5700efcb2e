// aten::mul: out = self * other, broadcast.
//
//   Types     the promoted dtype of both; integers wrap around; bool is "and".
//   Overloads out (tensor other), Scalar_out.

#include "kernels_portable/arith.h"
#include "kernels_portable/elementwise.h"

namespace taper::portable {
namespace {

struct Mul {
  template <typename C>
  C operator()(C a, C b) const {
    return wrap_mul(a, b);
  }
};

Status mul_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary(Mul{}, self, other, out);
}

Status mul_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return binary(Mul{}, self, other, out);
}

}  // namespace

extern const Kernel kMulOut;
extern const Kernel kMulScalarOut;
const Kernel kMulOut = make_kernel<mul_out>("aten::mul.out");
const Kernel kMulScalarOut = make_kernel<mul_scalar_out>("aten::mul.Scalar_out");

}  // namespace taper::portable
