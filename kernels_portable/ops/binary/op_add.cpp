// aten::add: out = self + alpha * other, broadcast.
//
//   Types     the promoted dtype of both; integers wrap around; bool is "or". alpha must be an
//             integer unless the result is a float.
//   Overloads out (tensor other), Scalar_out.

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/complex.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Add {
  template <typename C>
  C operator()(C a, C b) const {
    return wrap_add(a, b);
  }
};

struct AddScaled {
  Scalar alpha;
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return wrap_add(a, wrap_mul(b, alpha.to_int()));
    } else {
      return a + b * static_cast<C>(alpha.to_double());
    }
  }
};

Status add(const Tensor& self, const Operand& other, Scalar alpha, Tensor& out) {
  if (any_complex(self, other)) {
    return complex_binary(ComplexOp::kAdd, self, other, alpha.to_double(), out);
  }
  const Operand in[] = {self, other};
  TAPER_REQUIRE(is_floating(result_type(in)) || !alpha.is_double(), Error::kInvalidArgument,
                "add: alpha must be an integer for integer operands");
  if (alpha.to_double() == 1) return binary(Add{}, self, other, out);
  return binary(AddScaled{alpha}, self, other, out);
}

Status add_out(KernelContext&, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out) {
  return add(self, other, alpha, out);
}

Status add_scalar_out(KernelContext&, const Tensor& self, Scalar other, Scalar alpha, Tensor& out) {
  return add(self, other, alpha, out);
}

}  // namespace

extern const Kernel kAddOut;
extern const Kernel kAddScalarOut;
const Kernel kAddOut = make_kernel<add_out, Takes::kComplexToo>("aten::add.out");
const Kernel kAddScalarOut =
    make_kernel<add_scalar_out, Takes::kComplexToo>("aten::add.Scalar_out");

}  // namespace taper::portable
