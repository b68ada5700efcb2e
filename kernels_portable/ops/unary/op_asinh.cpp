// aten::asinh.out: the inverse hyperbolic sine.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Asinh {
  template <typename C>
  C operator()(C x) const {
    return std::asinh(x);
  }
};

Status asinh_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Asinh{}, self, out);
}

}  // namespace

extern const Kernel kAsinhOut;
const Kernel kAsinhOut = make_kernel<asinh_out>("aten::asinh.out");

}  // namespace taper::portable
