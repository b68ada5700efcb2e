// aten::log.out: the natural logarithm; -inf at 0, NaN below.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include <cmath>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Log {
  template <typename C>
  C operator()(C x) const {
    return std::log(x);
  }
};

Status log_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Log{}, self, out);
}

}  // namespace

extern const Kernel kLogOut;
const Kernel kLogOut = make_kernel<log_out>("aten::log.out");

}  // namespace taper::portable
