// aten::relu.out: self where it is not negative, else 0; NaN stays NaN.
//
//   Any dtype but bool, kept.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Relu {
  template <typename C>
  C operator()(C x) const {
    return x < 0 ? C{0} : x;
  }
};

Status relu_out(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(self.scalar_type() != ScalarType::kBool, Error::kInvalidType,
                "relu: not defined for bool");
  return unary(Relu{}, self, out);
}

}  // namespace

extern const Kernel kReluOut;
const Kernel kReluOut = make_kernel<relu_out>("aten::relu.out");

}  // namespace taper::portable
