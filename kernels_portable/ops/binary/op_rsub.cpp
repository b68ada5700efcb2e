// aten::rsub: out = other - alpha * self, broadcast.
//
//   Types     the promoted dtype of both; not bool. Integers wrap around.
//   Overloads Tensor_out, Scalar_out.

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct ReverseSub {
  Scalar alpha;
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return wrap_sub(b, wrap_mul(a, alpha.to_int()));
    } else {
      return b - a * static_cast<C>(alpha.to_double());
    }
  }
};

Status rsub(const Tensor& self, const Operand& other, Scalar alpha, Tensor& out) {
  const Operand in[] = {self, other};
  const ScalarType type = result_type(in);
  TAPER_REQUIRE(type != ScalarType::kBool, Error::kInvalidType, "rsub: not defined for bool");
  TAPER_REQUIRE(is_floating(type) || !alpha.is_double(), Error::kInvalidArgument,
                "rsub: alpha must be an integer for integer operands");
  return binary(ReverseSub{alpha}, self, other, out);
}

Status rsub_tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Scalar alpha,
                       Tensor& out) {
  return rsub(self, other, alpha, out);
}

Status rsub_scalar_out(KernelContext&, const Tensor& self, Scalar other, Scalar alpha,
                       Tensor& out) {
  return rsub(self, other, alpha, out);
}

}  // namespace

extern const Kernel kRsubTensorOut;
extern const Kernel kRsubScalarOut;
const Kernel kRsubTensorOut = make_kernel<rsub_tensor_out>("aten::rsub.Tensor_out");
const Kernel kRsubScalarOut = make_kernel<rsub_scalar_out>("aten::rsub.Scalar_out");

}  // namespace taper::portable
