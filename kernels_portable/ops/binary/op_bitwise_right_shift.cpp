// aten::bitwise_right_shift: out = self >> other, broadcast.
//
//   Types     integers, in the promoted dtype.
//   Range     copies of the sign bit are shifted in; a shift by less than 0, or by the width or
//             more, gives 0 or -1.
//   Overloads Tensor_out, Tensor_Scalar_out.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct RightShift {
  int64_t operator()(int64_t a, int64_t b) const { return b < 0 || b > 62 ? a >> 63 : a >> b; }
};

Status shift(const Tensor& self, const Operand& other, Tensor& out) {
  const Operand in[] = {self, other};
  TAPER_REQUIRE(is_integral(result_type(in)), Error::kInvalidType,
                "bitwise_right_shift: the operands must be integers");
  return binary_of_int(RightShift{}, self, other, out);
}

Status bitwise_right_shift_tensor_out(KernelContext&, const Tensor& self, const Tensor& other,
                                      Tensor& out) {
  return shift(self, other, out);
}

Status bitwise_right_shift_tensor_scalar_out(KernelContext&, const Tensor& self, Scalar other,
                                             Tensor& out) {
  return shift(self, other, out);
}

}  // namespace

extern const Kernel kBitwiseRightShiftTensorOut;
extern const Kernel kBitwiseRightShiftTensorScalarOut;
const Kernel kBitwiseRightShiftTensorOut =
    make_kernel<bitwise_right_shift_tensor_out>("aten::bitwise_right_shift.Tensor_out");
const Kernel kBitwiseRightShiftTensorScalarOut = make_kernel<bitwise_right_shift_tensor_scalar_out>(
    "aten::bitwise_right_shift.Tensor_Scalar_out");

}  // namespace taper::portable
