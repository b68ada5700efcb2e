// quantized_decomposed::quantize_per_{tensor,channel,token}: floats to integers, with parameters
// for the whole tensor, for each channel along an axis, or for each row.
//
//   dtype  must be the dtype of out.
//   NaN    becomes quant_min.

#include "kernels_portable/cores/quantized/quantize.h"
#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

Status prepare(const Tensor& input, QuantRange range, int64_t dtype, Tensor& out) {
  TAPER_REQUIRE(is_floating(input.scalar_type()), Error::kInvalidType,
                "quantize: input must be floating point");
  TAPER_REQUIRE(dtype == static_cast<int64_t>(out.scalar_type()), Error::kInvalidType,
                "quantize: the argument dtype must be the dtype of out");
  TAPER_TRY(check_quant_range(range, out.scalar_type()));
  TAPER_REQUIRE(same_dim_order(input, out), Error::kNotSupported,
                "quantize: input and out must share one dim order");
  return out.resize(input.sizes());
}

Status quantize(const Tensor& input, const QuantParams& params, QuantRange range, int64_t dtype,
                Tensor& out) {
  TAPER_TRY(prepare(input, range, dtype, out));
  TAPER_TRY(check_quant_params(params));
  quantize_run({input.mutable_data(), input.scalar_type(), 0, 1, input.numel()}, params, range,
               Rounding::kBeforeZeroPoint,
               {out.mutable_data(), out.scalar_type(), 0, 1, out.numel()});
  return {};
}

Status quantize_per_tensor_out(KernelContext&, const Tensor& input, double scale,
                               int64_t zero_point, int64_t quant_min, int64_t quant_max,
                               int64_t dtype, Tensor& out) {
  return quantize(input, QuantParams::of(scale, zero_point), {quant_min, quant_max}, dtype, out);
}

Status quantize_per_tensor_tensor_out(KernelContext&, const Tensor& input, const Tensor& scale,
                                      const Tensor& zero_point, int64_t quant_min,
                                      int64_t quant_max, int64_t dtype, Tensor& out) {
  TAPER_TRY(check_param_tensors(scale, &zero_point));
  TAPER_REQUIRE(scale.numel() == 1, Error::kInvalidArgument,
                "quantize_per_tensor: scale must have one element");
  return quantize(input, params_at(scale, &zero_point, 0), {quant_min, quant_max}, dtype, out);
}

Status quantize_per_channel_out(KernelContext&, const Tensor& input, const Tensor& scales,
                                const Tensor& zero_points, int64_t axis, int64_t quant_min,
                                int64_t quant_max, int64_t dtype, Tensor& out) {
  const QuantRange range = {quant_min, quant_max};
  TAPER_TRY(prepare(input, range, dtype, out));
  TAPER_REQUIRE(input.dim() > 0, Error::kInvalidArgument,
                "quantize_per_channel: input has no dimensions");
  TAPER_TRY(wrap_dim(axis, input.dim(), &axis));
  TAPER_TRY(check_param_tensors(scales, &zero_points));
  TAPER_REQUIRE(scales.numel() == input.size(axis), Error::kInvalidArgument,
                "quantize_per_channel: there must be a scale for each channel");
  for (int64_t c = 0; c < scales.numel(); ++c) {
    TAPER_TRY(check_quant_params(params_at(scales, &zero_points, c)));
  }
  for_each_channel_run(input, out, axis, [&](int64_t c, const Run& from, const Run& to) {
    quantize_run(from, params_at(scales, &zero_points, c), range, Rounding::kBeforeZeroPoint, to);
  });
  return {};
}

Status quantize_per_token_out(KernelContext&, const Tensor& input, const Tensor& scales,
                              const Tensor& zero_points, int64_t quant_min, int64_t quant_max,
                              int64_t dtype, Tensor& out) {
  const QuantRange range = {quant_min, quant_max};
  TAPER_TRY(prepare(input, range, dtype, out));
  TAPER_REQUIRE(input.dim() > 0 && input.is_contiguous(), Error::kNotSupported,
                "quantize_per_token: input must be contiguous");
  TAPER_TRY(check_param_tensors(scales, &zero_points));
  const int64_t length = input.size(input.dim() - 1);
  const int64_t tokens = product(input.sizes(), 0, input.dim() - 1);
  TAPER_REQUIRE(scales.numel() == tokens, Error::kInvalidArgument,
                "quantize_per_token: there must be a scale for each token");
  for (int64_t t = 0; t < tokens; ++t) {
    const QuantParams params = params_at(scales, &zero_points, t);
    TAPER_TRY(check_quant_params(params));
    quantize_run({input.mutable_data(), input.scalar_type(), t * length, 1, length}, params, range,
                 Rounding::kAfterZeroPoint,
                 {out.mutable_data(), out.scalar_type(), t * length, 1, length});
  }
  return {};
}

}  // namespace

extern const Kernel kQuantizePerTensorOut;
const Kernel kQuantizePerTensorOut =
    make_kernel<quantize_per_tensor_out>("quantized_decomposed::quantize_per_tensor.out");
extern const Kernel kQuantizePerTensorTensorOut;
const Kernel kQuantizePerTensorTensorOut = make_kernel<quantize_per_tensor_tensor_out>(
    "quantized_decomposed::quantize_per_tensor.Tensor_out");
extern const Kernel kQuantizePerChannelOut;
const Kernel kQuantizePerChannelOut =
    make_kernel<quantize_per_channel_out>("quantized_decomposed::quantize_per_channel.out");
extern const Kernel kQuantizePerTokenOut;
const Kernel kQuantizePerTokenOut =
    make_kernel<quantize_per_token_out>("quantized_decomposed::quantize_per_token.out");

}  // namespace taper::portable
