// aten::native_dropout.out outside training: out0 is input, out1 is true everywhere.
//
//   In training with a probability above 0 it would need random numbers and is refused.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/fill.h"

namespace taper::portable {
namespace {

Status native_dropout_out(KernelContext&, const Tensor& input, double p, std::optional<bool> train,
                          Tensor& out, Tensor& mask) {
  TAPER_REQUIRE(p >= 0 && p <= 1, Error::kInvalidArgument,
                "native_dropout: p must be between 0 and 1");
  TAPER_REQUIRE(p == 0 || (train.has_value() && !*train), Error::kNotSupported,
                "native_dropout: training is not supported");
  TAPER_REQUIRE(input.scalar_type() == out.scalar_type() && mask.scalar_type() == ScalarType::kBool,
                Error::kInvalidType, "native_dropout: an output has the wrong dtype");
  TAPER_TRY(out.resize(input.sizes()));
  TAPER_TRY(mask.resize(input.sizes()));
  fill_elements(mask, true);
  return copy_elements(input, out);
}

}  // namespace

extern const Kernel kNativeDropoutOut;
const Kernel kNativeDropoutOut = make_kernel<native_dropout_out>("aten::native_dropout.out");

}  // namespace taper::portable
