// aten::logical_and.out: out = true where both are "not zero", broadcast.
//
//   Any dtypes; the result is a bool, which any out dtype holds. NaN is not zero.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct LogicalAnd {
  template <typename C>
  C operator()(C a, C b) const {
    return a != 0 && b != 0 ? C{1} : C{0};
  }
};

Status logical_and_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary_to_bool(LogicalAnd{}, self, other, out);
}

}  // namespace

extern const Kernel kLogicalAndOut;
const Kernel kLogicalAndOut = make_kernel<logical_and_out>("aten::logical_and.out");

}  // namespace taper::portable
