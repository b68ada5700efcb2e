// aten::logical_or.out: out = true where either is "not zero", broadcast.
//
//   Any dtypes; the result is a bool, which any out dtype holds. NaN is not zero.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct LogicalOr {
  template <typename C>
  C operator()(C a, C b) const {
    return a != 0 || b != 0 ? C{1} : C{0};
  }
};

Status logical_or_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary_to_bool(LogicalOr{}, self, other, out);
}

}  // namespace

extern const Kernel kLogicalOrOut;
const Kernel kLogicalOrOut = make_kernel<logical_or_out>("aten::logical_or.out");

}  // namespace taper::portable
