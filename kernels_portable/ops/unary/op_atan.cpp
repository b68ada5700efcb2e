// aten::atan.out: the angle whose tangent is self.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/trig.h"

namespace taper::portable {
namespace {

struct Atan {
  template <typename C>
  C operator()(C x) const {
    return atan_of(x);
  }
};

Status atan_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Atan{}, self, out);
}

}  // namespace

extern const Kernel kAtanOut;
const Kernel kAtanOut = make_kernel<atan_out>("aten::atan.out");

}  // namespace taper::portable
