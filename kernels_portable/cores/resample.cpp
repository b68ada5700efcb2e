// The checks and sizes of resampled images; see resample.h.

#include "kernels_portable/cores/resample.h"

#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status describe_axis(int64_t in, size_t d, std::optional<IntList> output_size,
                     std::optional<DoubleList> factors, Axis* axis) {
  *axis = {in, 0, 0};
  if (output_size.has_value()) {
    axis->out = (*output_size)[d];
  } else {
    axis->factor = (*factors)[d];
    const double out = static_cast<double>(in) * axis->factor;
    TAPER_REQUIRE(out >= 0 && out <= INT32_MAX, Error::kInvalidArgument,
                  "upsample: scale factor out of range");
    axis->out = static_cast<int64_t>(out);
  }
  TAPER_REQUIRE(axis->in > 0 && axis->out > 0 && axis->out <= INT32_MAX, Error::kInvalidArgument,
                "upsample: input and output sizes must be positive");
  return {};
}

}  // namespace

Status describe_resampling(const Tensor& input, std::optional<IntList> output_size,
                           std::optional<DoubleList> factors, Tensor& out, Resampling* result) {
  TAPER_REQUIRE(input.dim() == 4, Error::kInvalidArgument,
                "upsample: input must have four dimensions");
  TAPER_REQUIRE(output_size.has_value() != factors.has_value(), Error::kInvalidArgument,
                "upsample: either output_size or scale_factors must be given");
  TAPER_REQUIRE((!output_size.has_value() || output_size->size() == 2) &&
                    (!factors.has_value() || factors->size() == 2),
                Error::kInvalidArgument, "upsample: two sizes or scale factors are needed");
  TAPER_REQUIRE(out.scalar_type() == input.scalar_type(), Error::kInvalidType,
                "upsample: out must have the dtype of input");
  TAPER_TRY(describe_axis(input.size(2), 0, output_size, factors, &result->rows));
  TAPER_TRY(describe_axis(input.size(3), 1, output_size, factors, &result->columns));
  const int64_t sizes[] = {input.size(0), input.size(1), result->rows.out, result->columns.out};
  TAPER_TRY(resize_out(out, sizes, 4));
  result->in = images_of(input);
  result->out = images_of(out);
  return {};
}

}  // namespace taper::portable
