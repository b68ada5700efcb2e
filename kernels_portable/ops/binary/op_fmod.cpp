// aten::fmod: out = self - other * trunc(self / other), broadcast. out has the sign of self.
//
//   Types     the promoted dtype. An integer divisor of zero is refused; a float one gives NaN.
//   Overloads Tensor_out, Scalar_out.

#include <cmath>

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Fmod {
  int64_t operator()(int64_t a, int64_t b) const { return b == 0 ? 0 : mod_trunc(a, b); }
  template <typename C>
  C operator()(C a, C b) const {
    return std::fmod(a, b);
  }
};

Status fmod(const Tensor& self, const Operand& other, Tensor& out) {
  TAPER_REQUIRE(is_floating(self.scalar_type()) || !has_integer_zero(other),
                Error::kInvalidArgument, "fmod: an integer divisor is zero");
  return binary(Fmod{}, self, other, out);
}

Status fmod_tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return fmod(self, other, out);
}

Status fmod_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return fmod(self, other, out);
}

}  // namespace

extern const Kernel kFmodTensorOut;
extern const Kernel kFmodScalarOut;
const Kernel kFmodTensorOut = make_kernel<fmod_tensor_out>("aten::fmod.Tensor_out");
const Kernel kFmodScalarOut = make_kernel<fmod_scalar_out>("aten::fmod.Scalar_out");

}  // namespace taper::portable
