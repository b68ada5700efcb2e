// aten::masked_fill: out = value where mask is true, else self; mask and self broadcast.
//
//   Types     mask is bool; out has the dtype of self, to which value is converted.
//   Overloads Scalar_out, Tensor_out (a 0-d tensor).

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct MaskedFill {
  template <typename C>
  C operator()(C mask, C self, C value) const {
    return mask != 0 ? value : self;
  }
};

Status masked_fill(const Tensor& self, const Tensor& mask, const Operand& value, Tensor& out) {
  TAPER_REQUIRE(mask.scalar_type() == ScalarType::kBool, Error::kInvalidType,
                "masked_fill: mask must be bool");
  return choose(MaskedFill{}, mask, self, value, self.scalar_type(), out);
}

Status masked_fill_scalar_out(KernelContext&, const Tensor& self, const Tensor& mask, Scalar value,
                              Tensor& out) {
  return masked_fill(self, mask, value, out);
}

Status masked_fill_tensor_out(KernelContext&, const Tensor& self, const Tensor& mask,
                              const Tensor& value, Tensor& out) {
  TAPER_REQUIRE(value.dim() == 0, Error::kInvalidArgument, "masked_fill: value must be 0-d");
  return masked_fill(self, mask, value, out);
}

}  // namespace

extern const Kernel kMaskedFillScalarOut;
extern const Kernel kMaskedFillTensorOut;
const Kernel kMaskedFillScalarOut =
    make_kernel<masked_fill_scalar_out>("aten::masked_fill.Scalar_out");
const Kernel kMaskedFillTensorOut =
    make_kernel<masked_fill_tensor_out>("aten::masked_fill.Tensor_out");

}  // namespace taper::portable
