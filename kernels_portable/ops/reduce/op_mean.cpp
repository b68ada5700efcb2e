// aten::mean: the mean over dims, all of them if none is given. The mean of no elements is NaN.
//
//   Types     floats keep their dtype; integers need a dtype argument that is a float.
//   Overloads out (dims), dtype_out (all elements).

#include "kernels_portable/engine/reduce.h"

namespace taper::portable {
namespace {

Status mean_out(KernelContext&, const Tensor& self, std::optional<IntList> dims, bool keepdim,
                std::optional<int64_t> dtype, Tensor& out) {
  ScalarType type;
  TAPER_TRY(dtype_or(dtype, self.scalar_type(), &type));
  TAPER_REQUIRE(is_floating(type), Error::kInvalidType, "mean: the dtype must be a float");
  DimMask mask = 0;
  TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  const double count = static_cast<double>(folded_elements(self, mask));
  return reduce(sum_reduction(), self, mask, keepdim, type, type, count, out);
}

Status mean_dtype_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype,
                      Tensor& out) {
  return mean_out(context, self, std::nullopt, false, dtype, out);
}

}  // namespace

extern const Kernel kMeanOut;
extern const Kernel kMeanDtypeOut;
const Kernel kMeanOut = make_kernel<mean_out>("aten::mean.out");
const Kernel kMeanDtypeOut = make_kernel<mean_dtype_out>("aten::mean.dtype_out");

}  // namespace taper::portable
