// aten::sub: out = self - alpha * other, broadcast.
//
//   Types     the promoted dtype of both; not bool. Integers wrap around. alpha must be an integer
//             unless the result is a float.
//   Overloads out (tensor other), Scalar_out.

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/complex.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Sub {
  template <typename C>
  C operator()(C a, C b) const {
    return wrap_sub(a, b);
  }
};

struct SubScaled {
  Scalar alpha;
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return wrap_sub(a, wrap_mul(b, alpha.to_int()));
    } else {
      return a - b * static_cast<C>(alpha.to_double());
    }
  }
};

Status sub(const Tensor& self, const Operand& other, Scalar alpha, Tensor& out) {
  if (any_complex(self, other)) {
    return complex_binary(ComplexOp::kSubtract, self, other, alpha.to_double(), out);
  }
  const Operand in[] = {self, other};
  const ScalarType type = result_type(in);
  TAPER_REQUIRE(type != ScalarType::kBool, Error::kInvalidType, "sub: not defined for bool");
  TAPER_REQUIRE(is_floating(type) || !alpha.is_double(), Error::kInvalidArgument,
                "sub: alpha must be an integer for integer operands");
  if (alpha.to_double() == 1) return binary(Sub{}, self, other, out);
  return binary(SubScaled{alpha}, self, other, out);
}

Status sub_out(KernelContext&, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out) {
  return sub(self, other, alpha, out);
}

Status sub_scalar_out(KernelContext&, const Tensor& self, Scalar other, Scalar alpha, Tensor& out) {
  return sub(self, other, alpha, out);
}

}  // namespace

extern const Kernel kSubOut;
extern const Kernel kSubScalarOut;
const Kernel kSubOut = make_kernel<sub_out, Takes::kComplexToo>("aten::sub.out");
const Kernel kSubScalarOut =
    make_kernel<sub_scalar_out, Takes::kComplexToo>("aten::sub.Scalar_out");

}  // namespace taper::portable
