// aten::silu.out: out = self * sigmoid(self), also called swish. Floats, dtype kept.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Silu {
  template <typename C>
  C operator()(C x) const {
    return x / (C{1} + exp_of(-x));
  }
};

Status silu_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_of_float(Silu{}, self, out);
}

}  // namespace

extern const Kernel kSiluOut;
const Kernel kSiluOut = make_kernel<silu_out>("aten::silu.out");

}  // namespace taper::portable
