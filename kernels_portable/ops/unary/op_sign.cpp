// aten::sign.out: -1, 0 or 1. NaN gives 0, as in PyTorch.
//
//   Any dtype, kept.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Sign {
  template <typename C>
  C operator()(C x) const {
    return static_cast<C>(static_cast<C>(x > 0) - static_cast<C>(x < 0));
  }
};

Status sign_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary(Sign{}, self, out);
}

}  // namespace

extern const Kernel kSignOut;
const Kernel kSignOut = make_kernel<sign_out>("aten::sign.out");

}  // namespace taper::portable
