// aten::atan2.out: out = the angle of the point (other, self), broadcast.
//
//   Floats in the promoted dtype; integers as float.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/trig.h"

namespace taper::portable {
namespace {

struct Atan2 {
  template <typename C>
  C operator()(C a, C b) const {
    return atan2_of(a, b);
  }
};

Status atan2_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return binary_to_float(Atan2{}, self, other, out);
}

}  // namespace

extern const Kernel kAtan2Out;
const Kernel kAtan2Out = make_kernel<atan2_out>("aten::atan2.out");

}  // namespace taper::portable
