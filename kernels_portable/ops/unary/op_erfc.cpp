// aten::erfc.out: 1 - erf(self), accurate where that is tiny.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Erfc {
  template <typename C>
  C operator()(C x) const {
    return std::erfc(x);
  }
};

Status erfc_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Erfc{}, self, out);
}

}  // namespace

extern const Kernel kErfcOut;
const Kernel kErfcOut = make_kernel<erfc_out>("aten::erfc.out");

}  // namespace taper::portable
