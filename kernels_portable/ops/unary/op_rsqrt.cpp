// aten::rsqrt.out: 1 / sqrt(self); infinite at 0, NaN below.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Rsqrt {
  template <typename C>
  C operator()(C x) const {
    return C{1} / std::sqrt(x);
  }
};

Status rsqrt_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Rsqrt{}, self, out);
}

}  // namespace

extern const Kernel kRsqrtOut;
const Kernel kRsqrtOut = make_kernel<rsqrt_out>("aten::rsqrt.out");

}  // namespace taper::portable
