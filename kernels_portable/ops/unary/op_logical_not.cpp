// aten::logical_not.out: true where self is zero; NaN counts as nonzero.
//
//   Any dtype; the result is a bool, which out of any dtype may hold.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct LogicalNot {
  template <typename C>
  C operator()(C x) const {
    return x == 0 ? C{1} : C{0};
  }
};

Status logical_not_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_bool(LogicalNot{}, self, out);
}

}  // namespace

extern const Kernel kLogicalNotOut;
const Kernel kLogicalNotOut = make_kernel<logical_not_out>("aten::logical_not.out");

}  // namespace taper::portable
