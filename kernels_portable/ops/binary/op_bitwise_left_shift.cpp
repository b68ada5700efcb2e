// aten::bitwise_left_shift: out = self << other, broadcast.
//
//   Types     integers, in the promoted dtype.
//   Range     a shift by less than 0, or by the width or more, gives 0.
//   Overloads Tensor_out, Tensor_Scalar_out.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct LeftShift {
  int64_t operator()(int64_t a, int64_t b) const {
    return b < 0 || b > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  }
};

Status shift(const Tensor& self, const Operand& other, Tensor& out) {
  const Operand in[] = {self, other};
  TAPER_REQUIRE(is_integral(result_type(in)), Error::kInvalidType,
                "bitwise_left_shift: the operands must be integers");
  return binary_of_int(LeftShift{}, self, other, out);
}

Status bitwise_left_shift_tensor_out(KernelContext&, const Tensor& self, const Tensor& other,
                                     Tensor& out) {
  return shift(self, other, out);
}

Status bitwise_left_shift_tensor_scalar_out(KernelContext&, const Tensor& self, Scalar other,
                                            Tensor& out) {
  return shift(self, other, out);
}

}  // namespace

extern const Kernel kBitwiseLeftShiftTensorOut;
extern const Kernel kBitwiseLeftShiftTensorScalarOut;
const Kernel kBitwiseLeftShiftTensorOut =
    make_kernel<bitwise_left_shift_tensor_out>("aten::bitwise_left_shift.Tensor_out");
const Kernel kBitwiseLeftShiftTensorScalarOut =
    make_kernel<bitwise_left_shift_tensor_scalar_out>("aten::bitwise_left_shift.Tensor_Scalar_out");

}  // namespace taper::portable
