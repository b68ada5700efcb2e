// aten::var_mean.correction_out: the variance, as in aten::var, and the mean.

#include "kernels_portable/engine/moments.h"

namespace taper::portable {
namespace {

Status var_mean_correction_out(KernelContext&, const Tensor& self, std::optional<IntList> dims,
                               std::optional<Scalar> correction, bool keepdim, Tensor& var,
                               Tensor& mean) {
  return variance(self, dims, correction ? correction->to_double() : 1, keepdim, var, &mean);
}

}  // namespace

extern const Kernel kVarMeanCorrectionOut;
const Kernel kVarMeanCorrectionOut =
    make_kernel<var_mean_correction_out>("aten::var_mean.correction_out");

}  // namespace taper::portable
