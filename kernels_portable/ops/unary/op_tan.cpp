// aten::tan.out: the tangent of an angle in radians.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/trig.h"

namespace taper::portable {
namespace {

struct Tan {
  template <typename C>
  C operator()(C x) const {
    return tan_of(x);
  }
};

Status tan_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Tan{}, self, out);
}

}  // namespace

extern const Kernel kTanOut;
const Kernel kTanOut = make_kernel<tan_out>("aten::tan.out");

}  // namespace taper::portable
