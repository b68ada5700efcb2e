// aten::div: out = self / other, broadcast.
//
//   Rounding  none: true division, integers as float. "trunc" and "floor": the promoted dtype, so
//             that integers stay integers; an integer divided by zero is refused.
//   Overloads out, Scalar_out, out_mode, Scalar_mode_out.

#include "kernels_portable/engine/complex.h"
#include "kernels_portable/engine/divide.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Divide {
  template <typename C>
  C operator()(C a, C b) const {
    return a / b;
  }
};

Status div(const Tensor& self, const Operand& other, Tensor& out) {
  if (any_complex(self, other)) return complex_binary(ComplexOp::kDivide, self, other, 1, out);
  return binary_to_float(Divide{}, self, other, out);
}

Status div_mode(const Tensor& self, const Operand& other, std::optional<std::string_view> mode,
                Tensor& out) {
  if (!mode.has_value()) return div(self, other, out);
  TAPER_REQUIRE(*mode == "floor" || *mode == "trunc", Error::kInvalidArgument,
                "div: rounding_mode must be floor or trunc");
  return divide_rounding(self, other, *mode == "floor", out);
}

Status div_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return div(self, other, out);
}

Status div_scalar_out(KernelContext&, const Tensor& self, Scalar other, Tensor& out) {
  return div(self, other, out);
}

Status div_out_mode(KernelContext&, const Tensor& self, const Tensor& other,
                    std::optional<std::string_view> mode, Tensor& out) {
  return div_mode(self, other, mode, out);
}

Status div_scalar_mode_out(KernelContext&, const Tensor& self, Scalar other,
                           std::optional<std::string_view> mode, Tensor& out) {
  return div_mode(self, other, mode, out);
}

}  // namespace

extern const Kernel kDivOut;
extern const Kernel kDivScalarOut;
extern const Kernel kDivOutMode;
extern const Kernel kDivScalarModeOut;
const Kernel kDivOut = make_kernel<div_out, Takes::kComplexToo>("aten::div.out");
const Kernel kDivScalarOut =
    make_kernel<div_scalar_out, Takes::kComplexToo>("aten::div.Scalar_out");
const Kernel kDivOutMode = make_kernel<div_out_mode>("aten::div.out_mode");
const Kernel kDivScalarModeOut = make_kernel<div_scalar_mode_out>("aten::div.Scalar_mode_out");

}  // namespace taper::portable
