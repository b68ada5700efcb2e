// aten::reciprocal.out: 1 / self; infinite at 0.
//
//   Floats in their own dtype (16-bit ones computed as float), integers and bool as float.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Reciprocal {
  template <typename C>
  C operator()(C x) const {
    return C{1} / x;
  }
};

Status reciprocal_out(KernelContext&, const Tensor& self, Tensor& out) {
  return unary_to_float(Reciprocal{}, self, out);
}

}  // namespace

extern const Kernel kReciprocalOut;
const Kernel kReciprocalOut = make_kernel<reciprocal_out>("aten::reciprocal.out");

}  // namespace taper::portable
