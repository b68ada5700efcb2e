// aten::tanh.out: the hyperbolic tangent.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Tanh {
  template <typename C>
  C operator()(C x) const {
    return tanh_of(x);
  }
};

Status tanh_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Tanh{}, self, out);
}

}  // namespace

extern const Kernel kTanhOut;
const Kernel kTanhOut = make_kernel<tanh_out>("aten::tanh.out");

}  // namespace taper::portable
