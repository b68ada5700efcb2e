// aten::sigmoid.out: 1 / (1 + e^-self).
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Sigmoid {
  template <typename C>
  C operator()(C x) const {
    return sigmoid_of(x);
  }
};

Status sigmoid_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Sigmoid{}, self, out);
}

}  // namespace

extern const Kernel kSigmoidOut;
const Kernel kSigmoidOut = make_kernel<sigmoid_out>("aten::sigmoid.out");

}  // namespace taper::portable
