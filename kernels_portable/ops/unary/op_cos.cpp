// aten::cos.out: the cosine of an angle in radians.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Cos {
  template <typename C>
  C operator()(C x) const {
    return std::cos(x);
  }
};

Status cos_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Cos{}, self, out);
}

}  // namespace

extern const Kernel kCosOut;
const Kernel kCosOut = make_kernel<cos_out>("aten::cos.out");

}  // namespace taper::portable
