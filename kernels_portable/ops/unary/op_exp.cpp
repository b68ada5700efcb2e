// aten::exp.out: e^self.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Exp {
  template <typename C>
  C operator()(C x) const {
    return exp_of(x);
  }
};

Status exp_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Exp{}, self, out);
}

}  // namespace

extern const Kernel kExpOut;
const Kernel kExpOut = make_kernel<exp_out>("aten::exp.out");

}  // namespace taper::portable
