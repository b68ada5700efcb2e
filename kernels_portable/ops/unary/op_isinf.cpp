// aten::isinf.out: true where self is infinite; false for integers.
//
//   Any dtype; the result is a bool, which out of any dtype may hold.

#include <cmath>
#include <limits>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Isinf {
  int64_t operator()(int64_t) const { return 0; }
  template <typename C>
  C operator()(C x) const {
    return std::fabs(x) == std::numeric_limits<C>::infinity() ? C{1} : C{0};
  }
};

Status isinf_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_bool(Isinf{}, self, out);
}

}  // namespace

extern const Kernel kIsinfOut;
const Kernel kIsinfOut = make_kernel<isinf_out>("aten::isinf.out");

}  // namespace taper::portable
