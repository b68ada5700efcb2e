// aten::native_group_norm.out: channels are split into groups; each group of each sample is
// normalised by its own mean and deviation, then scaled and shifted by channel.
//
//   Outputs   out0 like input; out1 and out2, sizes [N, group], are the means and reciprocal
//             deviations.
//   Types     floats. Layout: contiguous.

#include "kernels_portable/cores/norm.h"
#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

Status check(const Tensor& input, int64_t n, int64_t c, int64_t hxw, int64_t group) {
  TAPER_REQUIRE(input.dim() >= 2 && input.size(0) == n && input.size(1) == c &&
                    product(input.sizes(), 2, input.dim()) == hxw,
                Error::kInvalidArgument, "native_group_norm: N, C and HxW must be those of input");
  TAPER_REQUIRE(group > 0 && group <= c && c % group == 0, Error::kInvalidArgument,
                "native_group_norm: the number of groups must divide the channels");
  return {};
}

Status native_group_norm_out(KernelContext&, const Tensor& input, const Tensor* weight,
                             const Tensor* bias, int64_t n, int64_t c, int64_t hxw, int64_t group,
                             double eps, Tensor& out, Tensor& mean, Tensor& rstd) {
  TAPER_REQUIRE(is_floating(input.scalar_type()) && is_floating(out.scalar_type()) &&
                    is_floating(mean.scalar_type()) && is_floating(rstd.scalar_type()),
                Error::kInvalidType, "native_group_norm: input and outputs must be floats");
  TAPER_REQUIRE(
      input.is_contiguous() && out.is_contiguous() && mean.is_contiguous() && rstd.is_contiguous(),
      Error::kNotSupported, "native_group_norm: tensors must be contiguous");
  TAPER_TRY(check(input, n, c, hxw, group));
  TAPER_TRY(check_affine(weight, bias, c));
  Sizes sizes;
  sizes.push(n);
  sizes.push(group);
  TAPER_TRY(out.resize(input.sizes()));
  TAPER_TRY(mean.resize(sizes));
  TAPER_TRY(rstd.resize(sizes));
  const int64_t channels = c / group;  // A group, which is normalised as one row, has that many.
  normalise_rows(input, n * group, channels * hxw, {weight, bias, c, channels, hxw}, eps, out, mean,
                 rstd);
  return {};
}

}  // namespace

extern const Kernel kNativeGroupNormOut;
const Kernel kNativeGroupNormOut =
    make_kernel<native_group_norm_out>("aten::native_group_norm.out");

}  // namespace taper::portable
