// aten::expm1.out: e^self - 1, accurate near 0.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Expm1 {
  template <typename C>
  C operator()(C x) const {
    return std::expm1(x);
  }
};

Status expm1_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Expm1{}, self, out);
}

}  // namespace

extern const Kernel kExpm1Out;
const Kernel kExpm1Out = make_kernel<expm1_out>("aten::expm1.out");

}  // namespace taper::portable
