// aten::log2.out: the logarithm to base 2; -inf at 0, NaN below.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Log2 {
  template <typename C>
  C operator()(C x) const {
    return std::log2(x);
  }
};

Status log2_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Log2{}, self, out);
}

}  // namespace

extern const Kernel kLog2Out;
const Kernel kLog2Out = make_kernel<log2_out>("aten::log2.out");

}  // namespace taper::portable
