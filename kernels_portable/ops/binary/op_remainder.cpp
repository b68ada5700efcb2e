// aten::remainder: out = self - other * floor(self / other), broadcast. out has the sign of other.
//
//   Types     the promoted dtype. An integer divisor of zero is refused; a float one gives NaN.
//   Overloads Tensor_out, Scalar_out, Scalar_Tensor_out.

#include <cmath>

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Remainder {
  int64_t operator()(int64_t a, int64_t b) const { return b == 0 ? 0 : mod_floor(a, b); }
  template <typename C>
  C operator()(C a, C b) const {
    const C rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
};

Status remainder(const Tensor& self, const Operand& other, Tensor& out) {
  TAPER_REQUIRE(is_floating(self.scalar_type()) || !has_integer_zero(other),
                Error::kInvalidArgument, "remainder: an integer divisor is zero");
  return binary(Remainder{}, self, other, out);
}

Status remainder_tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return remainder(self, other, out);
}

Status remainder_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return remainder(self, other, out);
}

Status remainder_scalar_tensor_out(KernelContext&, Scalar self, const Tensor& other, Tensor& out) {
  TAPER_REQUIRE(self.is_double() || !has_integer_zero(other), Error::kInvalidArgument,
                "remainder: an integer divisor is zero");
  return binary(Remainder{}, self, other, out);
}

}  // namespace

extern const Kernel kRemainderTensorOut;
extern const Kernel kRemainderScalarOut;
extern const Kernel kRemainderScalarTensorOut;
const Kernel kRemainderTensorOut = make_kernel<remainder_tensor_out>("aten::remainder.Tensor_out");
const Kernel kRemainderScalarOut = make_kernel<remainder_scalar_out>("aten::remainder.Scalar_out");
const Kernel kRemainderScalarTensorOut =
    make_kernel<remainder_scalar_tensor_out>("aten::remainder.Scalar_Tensor_out");

}  // namespace taper::portable
