// aten::floor_divide: out = floor(self / other), broadcast, in the promoted dtype.
//
//   An integer divided by zero is refused.
//   Overloads out (tensor other), Scalar_out.

#include "kernels_portable/engine/divide.h"

namespace taper::portable {
namespace {

Status floor_divide_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return divide_rounding(self, other, true, out);
}

Status floor_divide_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return divide_rounding(self, other, true, out);
}

}  // namespace

extern const Kernel kFloorDivideOut;
extern const Kernel kFloorDivideScalarOut;
const Kernel kFloorDivideOut = make_kernel<floor_divide_out>("aten::floor_divide.out");
const Kernel kFloorDivideScalarOut =
    make_kernel<floor_divide_scalar_out>("aten::floor_divide.Scalar_out");

}  // namespace taper::portable
