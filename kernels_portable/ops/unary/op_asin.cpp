// aten::asin.out: the angle whose sine is self; NaN outside [-1, 1].
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/trig.h"

namespace taper::portable {
namespace {

struct Asin {
  template <typename C>
  C operator()(C x) const {
    return asin_of(x);
  }
};

Status asin_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Asin{}, self, out);
}

}  // namespace

extern const Kernel kAsinOut;
const Kernel kAsinOut = make_kernel<asin_out>("aten::asin.out");

}  // namespace taper::portable
