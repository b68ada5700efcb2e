// aten::bitwise_and: out = self & other, broadcast.
//
//   Types     integers and bool, in the promoted dtype.
//   Overloads Tensor_out, Scalar_out, Scalar_Tensor_out.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct BitwiseAnd {
  int64_t operator()(int64_t a, int64_t b) const { return a & b; }
};

Status bitwise_and_tensor_out(KernelContext&, const Tensor& self, const Tensor& other,
                              Tensor& out) {
  return binary_of_int(BitwiseAnd{}, self, other, out);
}

Status bitwise_and_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return binary_of_int(BitwiseAnd{}, self, other, out);
}

Status bitwise_and_scalar_tensor_out(KernelContext&, Scalar self, const Tensor& other,
                                     Tensor& out) {
  return binary_of_int(BitwiseAnd{}, self, other, out);
}

}  // namespace

extern const Kernel kBitwiseAndTensorOut;
extern const Kernel kBitwiseAndScalarOut;
extern const Kernel kBitwiseAndScalarTensorOut;
const Kernel kBitwiseAndTensorOut =
    make_kernel<bitwise_and_tensor_out>("aten::bitwise_and.Tensor_out");
const Kernel kBitwiseAndScalarOut =
    make_kernel<bitwise_and_scalar_out>("aten::bitwise_and.Scalar_out");
const Kernel kBitwiseAndScalarTensorOut =
    make_kernel<bitwise_and_scalar_tensor_out>("aten::bitwise_and.Scalar_Tensor_out");

}  // namespace taper::portable
