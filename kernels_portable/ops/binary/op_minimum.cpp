// aten::minimum.out: out = the smaller of self and other, broadcast; NaN if either is NaN.
//
//   Any dtypes, in the promoted one.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Minimum {
  template <typename C>
  C operator()(C a, C b) const {
    const C chosen = a < b ? a : b;
    return a != a ? a : chosen;  // If b is NaN, `chosen` is b.
  }
};

Status minimum_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary(Minimum{}, self, other, out);
}

}  // namespace

extern const Kernel kMinimumOut;
const Kernel kMinimumOut = make_kernel<minimum_out>("aten::minimum.out");

}  // namespace taper::portable
