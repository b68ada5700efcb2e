// aten::sum.IntList_out: the sum over dims, all of them if none is given.
//
//   Types     floats keep their dtype and accumulate in double; integers and bool become int64. The
//             argument dtype overrides that.

#include "kernels_portable/engine/complex.h"
#include "kernels_portable/engine/reduce.h"

namespace taper::portable {
namespace {

// Sums the real and the imaginary parts: they are an additional last dimension, which is kept.
Status sum_of_complex(const Tensor& self, DimMask mask, bool keepdim, Tensor& out) {
  TAPER_TRY(check_parts(self));
  TAPER_TRY(check_parts(out));
  TAPER_TRY(out.resize(reduced_sizes(self, mask, keepdim)));
  Parts from(self), to(out);
  const ScalarType type = to.tensor().scalar_type();
  return reduce(sum_reduction(), from.tensor(), mask, keepdim, type, type, 1, to.tensor());
}

Status sum_out(KernelContext&, const Tensor& self, std::optional<IntList> dims, bool keepdim,
               std::optional<int64_t> dtype, Tensor& out) {
  DimMask mask = 0;
  TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  if (is_complex(self.scalar_type())) return sum_of_complex(self, mask, keepdim, out);
  ScalarType type;
  TAPER_TRY(dtype_or(dtype, sum_type(self.scalar_type()), &type));
  return reduce(sum_reduction(), self, mask, keepdim, type, type, 1, out);
}

}  // namespace

extern const Kernel kSumIntListOut;
const Kernel kSumIntListOut = make_kernel<sum_out, Takes::kComplexToo>("aten::sum.IntList_out");

}  // namespace taper::portable
