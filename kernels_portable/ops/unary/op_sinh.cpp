// aten::sinh.out: the hyperbolic sine.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Sinh {
  template <typename C>
  C operator()(C x) const {
    return std::sinh(x);
  }
};

Status sinh_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Sinh{}, self, out);
}

}  // namespace

extern const Kernel kSinhOut;
const Kernel kSinhOut = make_kernel<sinh_out>("aten::sinh.out");

}  // namespace taper::portable
