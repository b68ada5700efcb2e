// aten::maximum.out: out = the larger of self and other, broadcast; NaN if either is NaN.
//
//   Any dtypes, in the promoted one.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Maximum {
  template <typename C>
  C operator()(C a, C b) const {
    const C chosen = a > b ? a : b;
    return a != a ? a : chosen;  // If b is NaN, `chosen` is b.
  }
};

Status maximum_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary(Maximum{}, self, other, out);
}

}  // namespace

extern const Kernel kMaximumOut;
const Kernel kMaximumOut = make_kernel<maximum_out>("aten::maximum.out");

}  // namespace taper::portable
