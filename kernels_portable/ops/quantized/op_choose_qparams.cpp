// quantized_decomposed::choose_qparams and choose_qparams_per_token_asymmetric: the scale and zero
// point that map the values of a tensor, or of each of its rows, onto a range of integers. The
// range of values always includes zero, so that zero can be represented.

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels_portable/cores/quantized/quantize.h"
#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

constexpr int64_t kPart = 128;

// The smallest and the largest of the values seen and zero.
struct Extremes {
  float low = 0;
  float high = 0;
};
Extremes extremes_of(const Tensor& input, int64_t first, int64_t count) {
  const ScalarType type = input.scalar_type();
  const LoadFunction<float> load = loader<float>(type);
  Extremes result;
  float values[kPart];
  for (int64_t i = 0; i < count; i += kPart) {
    const int64_t part = std::min(kPart, count - i);
    load(element(input.const_data(), first + i, type), 1, part, values);
    for (int64_t j = 0; j < part; ++j) {
      result.low = std::min(result.low, values[j]);
      result.high = std::max(result.high, values[j]);
    }
  }
  return result;
}

void store_params(double scale, int64_t zero_point, int64_t index, Tensor& scales,
                  Tensor& zero_points) {
  store_one(scale, element(scales.mutable_data(), index, scales.scalar_type()),
            scales.scalar_type());
  store_one(zero_point, element(zero_points.mutable_data(), index, zero_points.scalar_type()),
            zero_points.scalar_type());
}

Status check_outputs(const Tensor& input, const Tensor& scale_out, const Tensor& zero_point_out) {
  TAPER_REQUIRE(is_floating(input.scalar_type()), Error::kInvalidType,
                "choose_qparams: input must be floating point");
  TAPER_REQUIRE(is_floating(scale_out.scalar_type()) && is_integral(zero_point_out.scalar_type()),
                Error::kInvalidType, "choose_qparams: outputs must be floating point and integers");
  return {};
}

Status choose_qparams_out(KernelContext&, const Tensor& input, int64_t quant_min, int64_t quant_max,
                          double eps, int64_t, Tensor& scale_out, Tensor& zero_point_out) {
  TAPER_TRY(check_outputs(input, scale_out, zero_point_out));
  TAPER_REQUIRE(quant_min < quant_max && quant_min >= INT32_MIN && quant_max <= INT32_MAX,
                Error::kInvalidArgument, "choose_qparams: quant_min must be less than quant_max");
  TAPER_REQUIRE(input.numel() > 0, Error::kInvalidArgument, "choose_qparams: input is empty");
  const int64_t sizes[] = {1};
  TAPER_TRY(resize_out(scale_out, sizes, 1));
  TAPER_TRY(resize_out(zero_point_out, sizes, 1));
  const Extremes e = extremes_of(input, 0, input.numel());
  const float scale = std::max((e.high - e.low) / static_cast<float>(quant_max - quant_min),
                               static_cast<float>(eps));
  const int64_t steps = convert<int64_t>(std::clamp(std::nearbyint(e.low / scale), -4e9f, 4e9f));
  store_params(scale, std::clamp(quant_min - steps, quant_min, quant_max), 0, scale_out,
               zero_point_out);
  return {};
}

// Chooses the parameters of row `index` for the range of int8. One zero point represents the lowest
// value exactly, another one the highest; the one with the smaller error is taken.
void choose_token_params(const Extremes& e, int64_t index, Tensor& scales, Tensor& zero_points) {
  const float least = -128.0f, most = 127.0f;
  const float scale =
      std::max((e.high - e.low) / (most - least), std::numeric_limits<float>::epsilon());
  const float low = e.low / scale;
  const float high = e.high / scale;
  const float zero_point = (least + low) + (most + high) > 0 ? least - low : most - high;
  store_params(scale, convert<int64_t>(std::nearbyint(std::clamp(zero_point, least, most))), index,
               scales, zero_points);
}

Status choose_qparams_per_token_asymmetric_out(KernelContext&, const Tensor& input, int64_t,
                                               Tensor& scale_out, Tensor& zero_point_out) {
  TAPER_TRY(check_outputs(input, scale_out, zero_point_out));
  TAPER_REQUIRE(input.dim() > 0 && input.is_contiguous() && scale_out.is_contiguous() &&
                    zero_point_out.is_contiguous(),
                Error::kNotSupported, "choose_qparams_per_token: tensors must be contiguous");
  const int64_t length = input.size(input.dim() - 1);
  TAPER_REQUIRE(length > 0, Error::kInvalidArgument, "choose_qparams_per_token: rows are empty");
  const Sizes sizes = reduced_sizes(input, DimMask{1} << (input.dim() - 1), true);
  TAPER_TRY(scale_out.resize(sizes));
  TAPER_TRY(zero_point_out.resize(sizes));
  for (int64_t t = 0; t < scale_out.numel(); ++t) {
    choose_token_params(extremes_of(input, t * length, length), t, scale_out, zero_point_out);
  }
  return {};
}

}  // namespace

extern const Kernel kChooseQparamsTensorOut;
const Kernel kChooseQparamsTensorOut =
    make_kernel<choose_qparams_out>("quantized_decomposed::choose_qparams.Tensor_out");
extern const Kernel kChooseQparamsPerTokenAsymmetricOut;
const Kernel kChooseQparamsPerTokenAsymmetricOut =
    make_kernel<choose_qparams_per_token_asymmetric_out>(
        "quantized_decomposed::choose_qparams_per_token_asymmetric.out");

}  // namespace taper::portable
