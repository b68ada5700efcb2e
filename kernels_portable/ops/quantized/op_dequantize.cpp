// quantized_decomposed::dequantize_per_{tensor,channel,token}: integers back to floats.
//
//   dtype        must be the dtype of input; quant_min and quant_max must fit it and have no effect.
//   out_dtype    must be the dtype of out; absent means float32.
//   zero_points  integers, or floats, whose fraction is kept. Those of the dtype of input wrap
//                around if it has 8 bits, and those of 16 bits are subtracted in 16 bits.
//
// Semantics: torch/ao/quantization/fx/_decomposed.py of PyTorch 2.13.

#include "kernels_portable/cores/quantized/quantize.h"
#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

Status prepare(const Tensor& input, QuantRange range, int64_t dtype,
               std::optional<int64_t> out_dtype, Tensor& out) {
  TAPER_REQUIRE(dtype == static_cast<int64_t>(input.scalar_type()), Error::kInvalidType,
                "dequantize: the argument dtype must be the dtype of input");
  TAPER_TRY(check_quant_range(range, input.scalar_type()));
  const int64_t wanted = out_dtype.value_or(static_cast<int64_t>(ScalarType::kFloat));
  TAPER_REQUIRE(is_floating(out.scalar_type()) && wanted == static_cast<int64_t>(out.scalar_type()),
                Error::kInvalidType, "dequantize: out must have the floating dtype out_dtype");
  TAPER_REQUIRE(same_dim_order(input, out), Error::kNotSupported,
                "dequantize: input and out must share one dim order");
  return out.resize(input.sizes());
}

Status dequantize(const Tensor& input, const QuantParams& params, QuantRange range, int64_t dtype,
                  std::optional<int64_t> out_dtype, Tensor& out) {
  TAPER_TRY(prepare(input, range, dtype, out_dtype, out));
  dequantize_run({input.mutable_data(), input.scalar_type(), 0, 1, input.numel()}, params,
                 {out.mutable_data(), out.scalar_type(), 0, 1, out.numel()});
  return {};
}

Status dequantize_per_tensor_out(KernelContext&, const Tensor& input, double scale,
                                 int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                 int64_t dtype, std::optional<int64_t> out_dtype, Tensor& out) {
  return dequantize(input, QuantParams::of(scale, zero_point), {quant_min, quant_max}, dtype,
                    out_dtype, out);
}

Status dequantize_per_tensor_tensor_out(KernelContext&, const Tensor& input, const Tensor& scale,
                                        const Tensor& zero_point, int64_t quant_min,
                                        int64_t quant_max, int64_t dtype,
                                        std::optional<int64_t> out_dtype, Tensor& out) {
  TAPER_TRY(check_param_tensors(scale, &zero_point));
  TAPER_REQUIRE(scale.numel() == 1, Error::kInvalidArgument,
                "dequantize_per_tensor: scale must have one element");
  // PyTorch reads the number from the tensor first, so the dtype of the tensor has no effect.
  QuantParams params = params_at(scale, &zero_point, 0);
  params.product = params.difference = ScalarType::kDouble;
  return dequantize(input, params, {quant_min, quant_max}, dtype, out_dtype, out);
}

Status dequantize_per_channel_out(KernelContext&, const Tensor& input, const Tensor& scales,
                                  const Tensor* zero_points, int64_t axis, int64_t quant_min,
                                  int64_t quant_max, int64_t dtype,
                                  std::optional<int64_t> out_dtype, Tensor& out) {
  TAPER_TRY(prepare(input, {quant_min, quant_max}, dtype, out_dtype, out));
  TAPER_REQUIRE(input.dim() > 0, Error::kInvalidArgument,
                "dequantize_per_channel: input has no dimensions");
  TAPER_TRY(wrap_dim(axis, input.dim(), &axis));
  TAPER_TRY(check_param_tensors(scales, zero_points));
  TAPER_REQUIRE(scales.numel() == input.size(axis), Error::kInvalidArgument,
                "dequantize_per_channel: there must be a scale for each channel");
  for_each_channel_run(input, out, axis, [&](int64_t c, const Run& from, const Run& to) {
    dequantize_run(from, params_at(scales, zero_points, c), to);
  });
  return {};
}

Status dequantize_per_token_out(KernelContext&, const Tensor& input, const Tensor& scales,
                                const Tensor& zero_points, int64_t quant_min, int64_t quant_max,
                                int64_t dtype, int64_t output_dtype, Tensor& out) {
  TAPER_TRY(prepare(input, {quant_min, quant_max}, dtype, output_dtype, out));
  TAPER_REQUIRE(input.dim() > 0 && input.is_contiguous(), Error::kNotSupported,
                "dequantize_per_token: input must be contiguous");
  TAPER_TRY(check_param_tensors(scales, &zero_points));
  const int64_t length = input.size(input.dim() - 1);
  const int64_t tokens = product(input.sizes(), 0, input.dim() - 1);
  TAPER_REQUIRE(scales.numel() == tokens, Error::kInvalidArgument,
                "dequantize_per_token: there must be a scale for each token");
  for (int64_t t = 0; t < tokens; ++t) {
    dequantize_run({input.mutable_data(), input.scalar_type(), t * length, 1, length},
                   params_at(scales, &zero_points, t),
                   {out.mutable_data(), out.scalar_type(), t * length, 1, length});
  }
  return {};
}

}  // namespace

extern const Kernel kDequantizePerTensorOut;
const Kernel kDequantizePerTensorOut =
    make_kernel<dequantize_per_tensor_out>("quantized_decomposed::dequantize_per_tensor.out");
extern const Kernel kDequantizePerTensorTensorOut;
const Kernel kDequantizePerTensorTensorOut = make_kernel<dequantize_per_tensor_tensor_out>(
    "quantized_decomposed::dequantize_per_tensor.Tensor_out");
extern const Kernel kDequantizePerChannelOut;
const Kernel kDequantizePerChannelOut =
    make_kernel<dequantize_per_channel_out>("quantized_decomposed::dequantize_per_channel.out");
extern const Kernel kDequantizePerTokenOut;
const Kernel kDequantizePerTokenOut =
    make_kernel<dequantize_per_token_out>("quantized_decomposed::dequantize_per_token.out");

}  // namespace taper::portable
