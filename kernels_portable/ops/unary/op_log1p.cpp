// aten::log1p.out: ln(1 + self), accurate near 0.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Log1p {
  template <typename C>
  C operator()(C x) const {
    return std::log1p(x);
  }
};

Status log1p_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Log1p{}, self, out);
}

}  // namespace

extern const Kernel kLog1pOut;
const Kernel kLog1pOut = make_kernel<log1p_out>("aten::log1p.out");

}  // namespace taper::portable
