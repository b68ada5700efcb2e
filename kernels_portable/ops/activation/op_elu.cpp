// aten::elu.out: out = scale * x for x > 0, else scale * alpha * (e^(input_scale * x) - 1).
//
//   Floats, dtype kept.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Elu {
  double negative, scale, input_scale;
  template <typename C>
  C operator()(C x) const {
    if (x > 0) return x * static_cast<C>(scale);
    return std::expm1(x * static_cast<C>(input_scale)) * static_cast<C>(negative);
  }
};

Status elu_out(KernelContext&, const Tensor& self, Scalar alpha, Scalar scale, Scalar input_scale,
               Tensor& out) {
  const double factor = scale.to_double();
  const Elu elu = {alpha.to_double() * factor, factor, input_scale.to_double()};
  return unary_of_float(elu, self, out);
}

}  // namespace

extern const Kernel kEluOut;
const Kernel kEluOut = make_kernel<elu_out>("aten::elu.out");

}  // namespace taper::portable
