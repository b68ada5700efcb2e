// aten::_softmax.out: e^x / sum(e^x) along dim.
//
//   Floats; half and bfloat16 are computed as float. half_to_float is ignored: the dtype of out
//   says the same.

#include "kernels_portable/cores/softmax.h"

namespace taper::portable {
namespace {

Status softmax_out(KernelContext&, const Tensor& self, int64_t dim, bool, Tensor& out) {
  return softmax(self, dim, false, out);
}

}  // namespace

extern const Kernel kSoftmaxOut;
const Kernel kSoftmaxOut = make_kernel<softmax_out>("aten::_softmax.out");

}  // namespace taper::portable
