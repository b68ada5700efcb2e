// aten::hardtanh.out: self clamped to [min_val, max_val]. Any dtype but bool, kept; NaN stays NaN.

#include "kernels_portable/engine/clamp.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

Status hardtanh_out(KernelContext&, const Tensor& self, Scalar min_val, Scalar max_val,
                    Tensor& out) {
  TAPER_REQUIRE(self.scalar_type() != ScalarType::kBool, Error::kInvalidType,
                "hardtanh: not defined for bool");
  return unary(ClampToBounds(min_val, max_val), self, out);
}

}  // namespace

extern const Kernel kHardtanhOut;
const Kernel kHardtanhOut = make_kernel<hardtanh_out>("aten::hardtanh.out");

}  // namespace taper::portable
