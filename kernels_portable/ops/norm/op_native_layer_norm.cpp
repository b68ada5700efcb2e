// aten::native_layer_norm.out: normalises each row, which consists of the trailing dims that
// normalized_shape names: (x - mean) / deviation * weight + bias.
//
//   Outputs   out0 like input; out1 and out2 are the means and reciprocal deviations, with 1 in
//             place of the normalised dims.
//   Types     floats. Layout: contiguous.

#include "kernels_portable/cores/norm.h"
#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

// The first dim that is normalised.
Status first_dim(const Tensor& input, IntList shape, int64_t* first) {
  const int64_t count = static_cast<int64_t>(shape.size());
  TAPER_REQUIRE(count >= 1 && count <= input.dim(), Error::kInvalidArgument,
                "native_layer_norm: normalized_shape has too few or too many dims");
  *first = input.dim() - count;
  for (int64_t d = *first; d < input.dim(); ++d) {
    TAPER_REQUIRE(shape[static_cast<size_t>(d - *first)] == input.size(d), Error::kInvalidArgument,
                  "native_layer_norm: normalized_shape must be the last sizes of input");
  }
  return {};
}

Status native_layer_norm_out(KernelContext&, const Tensor& input, IntList normalized_shape,
                             const Tensor* weight, const Tensor* bias, double eps, Tensor& out,
                             Tensor& mean, Tensor& rstd) {
  TAPER_REQUIRE(is_floating(input.scalar_type()) && is_floating(out.scalar_type()) &&
                    is_floating(mean.scalar_type()) && is_floating(rstd.scalar_type()),
                Error::kInvalidType, "native_layer_norm: input and outputs must be floats");
  TAPER_REQUIRE(
      input.is_contiguous() && out.is_contiguous() && mean.is_contiguous() && rstd.is_contiguous(),
      Error::kNotSupported, "native_layer_norm: tensors must be contiguous");
  int64_t first = 0;
  TAPER_TRY(first_dim(input, normalized_shape, &first));
  const int64_t width = product(input.sizes(), first, input.dim());
  TAPER_TRY(check_affine(weight, bias, width));
  DimMask mask = 0;
  for (int64_t d = first; d < input.dim(); ++d) mask |= DimMask{1} << d;
  const Sizes row_sizes = reduced_sizes(input, mask, true);
  TAPER_TRY(out.resize(input.sizes()));
  TAPER_TRY(mean.resize(row_sizes));
  TAPER_TRY(rstd.resize(row_sizes));
  const int64_t rows = product(input.sizes(), 0, first);
  normalise_rows(input, rows, width, {weight, bias, width, 0, 1}, eps, out, mean, rstd);
  return {};
}

}  // namespace

extern const Kernel kNativeLayerNormOut;
const Kernel kNativeLayerNormOut =
    make_kernel<native_layer_norm_out>("aten::native_layer_norm.out");

}  // namespace taper::portable
