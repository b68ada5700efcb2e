// aten::sqrt.out: the square root; NaN below 0.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Sqrt {
  template <typename C>
  C operator()(C x) const {
    return std::sqrt(x);
  }
};

Status sqrt_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Sqrt{}, self, out);
}

}  // namespace

extern const Kernel kSqrtOut;
const Kernel kSqrtOut = make_kernel<sqrt_out>("aten::sqrt.out");

}  // namespace taper::portable
