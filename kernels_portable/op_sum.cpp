// aten::sum.IntList_out: the sum over dims, all of them if none is given.
//
//   Types     floats keep theirs, integers and bool become int64, unless dtype says otherwise.
//   Floats
//             accumulate in double.

#include "kernels_portable/reduce.h"

namespace taper::portable {
namespace {

Status sum_out(KernelContext&, const Tensor& self, std::optional<IntList> dims, bool keepdim,
               std::optional<int64_t> dtype, Tensor& out) {
  ScalarType type;
  TAPER_TRY(dtype_or(dtype, sum_type(self.scalar_type()), &type));
  DimMask mask = 0;
  TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  return reduce(sum_reduction(), self, mask, keepdim, type, type, 1, out);
}

}  // namespace

extern const Kernel kSumIntListOut;
const Kernel kSumIntListOut = make_kernel<sum_out>("aten::sum.IntList_out");

}  // namespace taper::portable
