// aten::leaky_relu.out: out = self where self > 0, else self * negative_slope.
//
//   Floats, dtype kept. NaN stays NaN.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct LeakyRelu {
  double slope;
  template <typename C>
  C operator()(C x) const {
    return x > 0 ? x : x * static_cast<C>(slope);
  }
};

Status leaky_relu_out(KernelContext&, const Tensor& self, Scalar negative_slope, Tensor& out) {
  return unary_of_float(LeakyRelu{negative_slope.to_double()}, self, out);
}

}  // namespace

extern const Kernel kLeakyReluOut;
const Kernel kLeakyReluOut = make_kernel<leaky_relu_out>("aten::leaky_relu.out");

}  // namespace taper::portable
