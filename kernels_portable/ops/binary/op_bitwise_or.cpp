// aten::bitwise_or: out = self | other, broadcast.
//
//   Types     integers and bool, in the promoted dtype.
//   Overloads Tensor_out, Scalar_out, Scalar_Tensor_out.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct BitwiseOr {
  int64_t operator()(int64_t a, int64_t b) const { return a | b; }
};

Status bitwise_or_tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary_of_int(BitwiseOr{}, self, other, out);
}

Status bitwise_or_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return binary_of_int(BitwiseOr{}, self, other, out);
}

Status bitwise_or_scalar_tensor_out(KernelContext&, Scalar self, const Tensor& other, Tensor& out) {
  return binary_of_int(BitwiseOr{}, self, other, out);
}

}  // namespace

extern const Kernel kBitwiseOrTensorOut;
extern const Kernel kBitwiseOrScalarOut;
extern const Kernel kBitwiseOrScalarTensorOut;
const Kernel kBitwiseOrTensorOut =
    make_kernel<bitwise_or_tensor_out>("aten::bitwise_or.Tensor_out");
const Kernel kBitwiseOrScalarOut =
    make_kernel<bitwise_or_scalar_out>("aten::bitwise_or.Scalar_out");
const Kernel kBitwiseOrScalarTensorOut =
    make_kernel<bitwise_or_scalar_tensor_out>("aten::bitwise_or.Scalar_Tensor_out");

}  // namespace taper::portable
