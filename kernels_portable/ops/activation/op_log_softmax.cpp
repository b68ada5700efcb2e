// aten::_log_softmax.out: x - log(sum(e^x)) along dim.
//
//   Floats; half and bfloat16 are computed as float. half_to_float is ignored: the dtype of out
//   says the same.

#include "kernels_portable/cores/softmax.h"

namespace taper::portable {
namespace {

Status log_softmax_out(KernelContext&, const Tensor& self, int64_t dim, bool, Tensor& out) {
  return softmax(self, dim, true, out);
}

}  // namespace

extern const Kernel kLogSoftmaxOut;
const Kernel kLogSoftmaxOut = make_kernel<log_softmax_out>("aten::_log_softmax.out");

}  // namespace taper::portable
