// aten::acos.out: the angle whose cosine is self; NaN outside [-1, 1].
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/trig.h"

namespace taper::portable {
namespace {

struct Acos {
  template <typename C>
  C operator()(C x) const {
    return acos_of(x);
  }
};

Status acos_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Acos{}, self, out);
}

}  // namespace

extern const Kernel kAcosOut;
const Kernel kAcosOut = make_kernel<acos_out>("aten::acos.out");

}  // namespace taper::portable
