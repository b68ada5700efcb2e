// aten::acosh.out: the inverse hyperbolic cosine; NaN below 1.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Acosh {
  template <typename C>
  C operator()(C x) const {
    return std::acosh(x);
  }
};

Status acosh_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Acosh{}, self, out);
}

}  // namespace

extern const Kernel kAcoshOut;
const Kernel kAcoshOut = make_kernel<acosh_out>("aten::acosh.out");

}  // namespace taper::portable
