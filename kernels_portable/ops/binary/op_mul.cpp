// aten::mul: out = self * other, broadcast.
//
//   Types     the promoted dtype of both; integers wrap around; bool is "and".
//   Overloads out (tensor other), Scalar_out.

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/complex.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Mul {
  template <typename C>
  C operator()(C a, C b) const {
    return wrap_mul(a, b);
  }
};

Status mul(const Tensor& self, const Operand& other, Tensor& out) {
  if (any_complex(self, other)) return complex_binary(ComplexOp::kMultiply, self, other, 1, out);
  return binary(Mul{}, self, other, out);
}

Status mul_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return mul(self, other, out);
}

Status mul_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return mul(self, other, out);
}

}  // namespace

extern const Kernel kMulOut;
extern const Kernel kMulScalarOut;
const Kernel kMulOut = make_kernel<mul_out, Takes::kComplexToo>("aten::mul.out");
const Kernel kMulScalarOut =
    make_kernel<mul_scalar_out, Takes::kComplexToo>("aten::mul.Scalar_out");

}  // namespace taper::portable
