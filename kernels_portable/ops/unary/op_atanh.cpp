// aten::atanh.out: the inverse hyperbolic tangent; NaN outside [-1, 1].
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Atanh {
  template <typename C>
  C operator()(C x) const {
    return std::atanh(x);
  }
};

Status atanh_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Atanh{}, self, out);
}

}  // namespace

extern const Kernel kAtanhOut;
const Kernel kAtanhOut = make_kernel<atanh_out>("aten::atanh.out");

}  // namespace taper::portable
