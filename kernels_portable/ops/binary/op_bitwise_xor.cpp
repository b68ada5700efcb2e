// aten::bitwise_xor: out = self ^ other, broadcast.
//
//   Types     integers and bool, in the promoted dtype.
//   Overloads Tensor_out, Scalar_out, Scalar_Tensor_out.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct BitwiseXor {
  int64_t operator()(int64_t a, int64_t b) const { return a ^ b; }
};

Status bitwise_xor_tensor_out(KernelContext&, const Tensor& self, const Tensor& other,
                              Tensor& out) {
  return binary_of_int(BitwiseXor{}, self, other, out);
}

Status bitwise_xor_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return binary_of_int(BitwiseXor{}, self, other, out);
}

Status bitwise_xor_scalar_tensor_out(KernelContext&, Scalar self, const Tensor& other,
                                     Tensor& out) {
  return binary_of_int(BitwiseXor{}, self, other, out);
}

}  // namespace

extern const Kernel kBitwiseXorTensorOut;
extern const Kernel kBitwiseXorScalarOut;
extern const Kernel kBitwiseXorScalarTensorOut;
const Kernel kBitwiseXorTensorOut =
    make_kernel<bitwise_xor_tensor_out>("aten::bitwise_xor.Tensor_out");
const Kernel kBitwiseXorScalarOut =
    make_kernel<bitwise_xor_scalar_out>("aten::bitwise_xor.Scalar_out");
const Kernel kBitwiseXorScalarTensorOut =
    make_kernel<bitwise_xor_scalar_tensor_out>("aten::bitwise_xor.Scalar_Tensor_out");

}  // namespace taper::portable
