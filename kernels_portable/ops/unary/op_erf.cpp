// aten::erf.out: the error function.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Erf {
  template <typename C>
  C operator()(C x) const {
    return erf_of(x);
  }
};

Status erf_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Erf{}, self, out);
}

}  // namespace

extern const Kernel kErfOut;
const Kernel kErfOut = make_kernel<erf_out>("aten::erf.out");

}  // namespace taper::portable
