// aten::fill: out has the sizes of self and holds value everywhere, converted to the dtype of out.
//
//   Overloads Scalar_out, Tensor_out (a tensor of one element).

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/fill.h"

namespace taper::portable {
namespace {

Status fill_scalar_out(KernelContext&, const Tensor& self, Scalar value, Tensor& out) {
  TAPER_TRY(out.resize(self.sizes()));
  fill_elements(out, value);
  return {};
}

Status fill_tensor_out(KernelContext&, const Tensor& self, const Tensor& value, Tensor& out) {
  TAPER_REQUIRE(value.dim() == 0, Error::kInvalidArgument, "fill: value must be 0-d");
  TAPER_TRY(out.resize(self.sizes()));
  return copy_elements(value, out);
}

}  // namespace

extern const Kernel kFillScalarOut;
extern const Kernel kFillTensorOut;
const Kernel kFillScalarOut = make_kernel<fill_scalar_out>("aten::fill.Scalar_out");
const Kernel kFillTensorOut = make_kernel<fill_tensor_out>("aten::fill.Tensor_out");

}  // namespace taper::portable
