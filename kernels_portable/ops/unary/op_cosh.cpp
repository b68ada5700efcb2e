// aten::cosh.out: the hyperbolic cosine.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Cosh {
  template <typename C>
  C operator()(C x) const {
    return std::cosh(x);
  }
};

Status cosh_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Cosh{}, self, out);
}

}  // namespace

extern const Kernel kCoshOut;
const Kernel kCoshOut = make_kernel<cosh_out>("aten::cosh.out");

}  // namespace taper::portable
