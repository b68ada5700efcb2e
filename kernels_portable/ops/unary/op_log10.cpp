// aten::log10.out: the logarithm to base 10; -inf at 0, NaN below.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Log10 {
  template <typename C>
  C operator()(C x) const {
    return std::log10(x);
  }
};

Status log10_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Log10{}, self, out);
}

}  // namespace

extern const Kernel kLog10Out;
const Kernel kLog10Out = make_kernel<log10_out>("aten::log10.out");

}  // namespace taper::portable
