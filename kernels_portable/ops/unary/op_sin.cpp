// aten::sin.out: the sine of an angle in radians.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Sin {
  template <typename C>
  C operator()(C x) const {
    return std::sin(x);
  }
};

Status sin_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Sin{}, self, out);
}

}  // namespace

extern const Kernel kSinOut;
const Kernel kSinOut = make_kernel<sin_out>("aten::sin.out");

}  // namespace taper::portable
