// aten::isnan.out: true where self is NaN; false for integers.
//
//   Any dtype; the result is a bool, which out of any dtype may hold.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Isnan {
  template <typename C>
  C operator()(C x) const {
    return x != x ? C{1} : C{0};
  }
};

Status isnan_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_bool(Isnan{}, self, out);
}

}  // namespace

extern const Kernel kIsnanOut;
const Kernel kIsnanOut = make_kernel<isnan_out>("aten::isnan.out");

}  // namespace taper::portable
