// aten::hardsigmoid.out: out = clamp(x + 3, 0, 6) / 6. Floats, dtype kept; NaN stays NaN.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Hardsigmoid {
  template <typename C>
  C operator()(C x) const {
    C gate = x + C{3};
    gate = gate < 0 ? C{0} : gate;
    gate = gate > 6 ? C{6} : gate;
    return gate / C{6};
  }
};

Status hardsigmoid_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_of_float(Hardsigmoid{}, self, out);
}

}  // namespace

extern const Kernel kHardsigmoidOut;
const Kernel kHardsigmoidOut = make_kernel<hardsigmoid_out>("aten::hardsigmoid.out");

}  // namespace taper::portable
