// aten::abs.out: the magnitude of self.
//
//   Any dtype, kept; the smallest integer stays what it is.

#include <cmath>

#include "kernels_portable/arith.h"
#include "kernels_portable/elementwise.h"

namespace taper::portable {
namespace {

struct Abs {
  int64_t operator()(int64_t x) const { return x < 0 ? wrap_neg(x) : x; }
  template <typename C>
  C operator()(C x) const {
    return std::fabs(x);
  }
};

Status abs_out(KernelContext&, const Tensor& self, Tensor& out) { return unary(Abs{}, self, out); }

}  // namespace

extern const Kernel kAbsOut;
const Kernel kAbsOut = make_kernel<abs_out>("aten::abs.out");

}  // namespace taper::portable
