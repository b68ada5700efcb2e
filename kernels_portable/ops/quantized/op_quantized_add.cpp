// quantized_decomposed::add.out: dequantizes two tensors of one shape, adds them, quantizes the
// sum.

#include <algorithm>

#include "kernels_portable/cores/quantized/quantize.h"
#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

constexpr int64_t kPart = 128;

Status check_operand(const Tensor& tensor, const QuantParams& params, QuantRange range,
                     const Tensor& a) {
  TAPER_TRY(check_quant_range(range, tensor.scalar_type()));
  TAPER_TRY(check_quant_params(params));
  TAPER_REQUIRE(tensor.scalar_type() == a.scalar_type(), Error::kInvalidType,
                "quantized add: tensors must share one dtype");
  TAPER_REQUIRE(same_dim_order(tensor, a), Error::kNotSupported,
                "quantized add: tensors must share one dim order");
  return {};
}

Status quantized_add_out(KernelContext&, const Tensor& a, double a_scale, int64_t a_zero_point,
                         int64_t a_quant_min, int64_t a_quant_max, const Tensor& b, double b_scale,
                         int64_t b_zero_point, int64_t b_quant_min, int64_t b_quant_max,
                         double out_scale, int64_t out_zero_point, int64_t out_quant_min,
                         int64_t out_quant_max, Tensor& out) {
  const QuantParams of_a = QuantParams::of(a_scale, a_zero_point);
  const QuantParams of_b = QuantParams::of(b_scale, b_zero_point);
  const QuantParams of_out = QuantParams::of(out_scale, out_zero_point);
  const QuantRange range = {out_quant_min, out_quant_max};
  TAPER_TRY(check_operand(a, of_a, {a_quant_min, a_quant_max}, a));
  TAPER_TRY(check_operand(b, of_b, {b_quant_min, b_quant_max}, a));
  TAPER_TRY(check_operand(out, of_out, range, a));
  TAPER_REQUIRE(same_sizes(a, b), Error::kInvalidArgument,
                "quantized add: operands must have the same sizes");
  TAPER_TRY(out.resize(a.sizes()));
  const ScalarType type = a.scalar_type();
  float x[kPart], y[kPart];
  for (int64_t i = 0; i < a.numel(); i += kPart) {
    const int64_t count = std::min(kPart, a.numel() - i);
    dequantize_run({a.mutable_data(), type, i, 1, count}, of_a,
                   {x, ScalarType::kFloat, 0, 1, count});
    dequantize_run({b.mutable_data(), type, i, 1, count}, of_b,
                   {y, ScalarType::kFloat, 0, 1, count});
    for (int64_t j = 0; j < count; ++j) x[j] += y[j];
    quantize_run({x, ScalarType::kFloat, 0, 1, count}, of_out, range, Rounding::kBeforeZeroPoint,
                 {out.mutable_data(), type, i, 1, count});
  }
  return {};
}

}  // namespace

extern const Kernel kQuantizedAddOut;
const Kernel kQuantizedAddOut = make_kernel<quantized_add_out>("quantized_decomposed::add.out");

}  // namespace taper::portable
