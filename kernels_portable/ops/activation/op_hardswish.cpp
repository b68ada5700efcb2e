// aten::hardswish.out: out = x * clamp(x + 3, 0, 6) / 6. Floats, dtype kept; NaN stays NaN.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Hardswish {
  template <typename C>
  C operator()(C x) const {
    C gate = x + C{3};
    gate = gate < 0 ? C{0} : gate;
    gate = gate > 6 ? C{6} : gate;
    return x * gate / C{6};
  }
};

Status hardswish_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_of_float(Hardswish{}, self, out);
}

}  // namespace

extern const Kernel kHardswishOut;
const Kernel kHardswishOut = make_kernel<hardswish_out>("aten::hardswish.out");

}  // namespace taper::portable
