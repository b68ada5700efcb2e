// aten::logical_xor.out: out = true where exactly one is "not zero", broadcast.
//
//   Any dtypes; the result is a bool, which any out dtype holds. NaN is not zero.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct LogicalXor {
  template <typename C>
  C operator()(C a, C b) const {
    return (a != 0) != (b != 0) ? C{1} : C{0};
  }
};

Status logical_xor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary_to_bool(LogicalXor{}, self, other, out);
}

}  // namespace

extern const Kernel kLogicalXorOut;
const Kernel kLogicalXorOut = make_kernel<logical_xor_out>("aten::logical_xor.out");

}  // namespace taper::portable
