// aten::var: the variance over dims, all of them if none is given; floats, computed in double.
//
//   The divisor is the number of elements less the correction (1 if none is given), at least 0.
//   Overloads correction_out, out (unbiased: a correction of 1, else 0).

#include "kernels_portable/engine/moments.h"

namespace taper::portable {
namespace {

Status var_correction_out(KernelContext&, const Tensor& self, std::optional<IntList> dims,
                          std::optional<Scalar> correction, bool keepdim, Tensor& out) {
  return variance(self, dims, correction ? correction->to_double() : 1, keepdim, out, nullptr);
}

Status var_out(KernelContext&, const Tensor& self, std::optional<IntList> dims, bool unbiased,
               bool keepdim, Tensor& out) {
  return variance(self, dims, unbiased ? 1 : 0, keepdim, out, nullptr);
}

}  // namespace

extern const Kernel kVarCorrectionOut;
extern const Kernel kVarOut;
const Kernel kVarCorrectionOut = make_kernel<var_correction_out>("aten::var.correction_out");
const Kernel kVarOut = make_kernel<var_out>("aten::var.out");

}  // namespace taper::portable
