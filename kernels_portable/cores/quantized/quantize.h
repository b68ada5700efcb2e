// Affine quantization, which the operators in quantized_decomposed share:
// q = clamp(round(x / scale) + zero_point, quant_min, quant_max), and x = (q - zero_point) * scale.

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::portable {

struct QuantRange {
  int64_t min;
  int64_t max;
};

// One set of parameters, for a tensor, a channel or a token. Zero points are integers, except for
// those in floating tensors, which PyTorch's embedding quantizer writes (affine_float_qparams).
struct QuantParams {
  double scale = 1;
  double zero_point = 0;
  // The dtype that a dequantized value is rounded to before it is converted to that of the result:
  // PyTorch multiplies integers by 16-bit scales in 16 bits.
  ScalarType product = ScalarType::kDouble;
  // The dtype in which PyTorch subtracts the zero point: bytes of the dtype of the quantized values
  // wrap around, and floats of 16 bits are rounded.
  ScalarType difference = ScalarType::kDouble;

  static QuantParams of(double scale, int64_t zero_point) {
    return {scale, static_cast<double>(zero_point), ScalarType::kDouble, ScalarType::kDouble};
  }
};

// Requires that `dtype` can hold quantized values and that the range is not empty and fits it.
Status check_quant_range(QuantRange range, ScalarType dtype);
// Requires what the arithmetic below relies on: that the zero point fits 32 bits.
Status check_quant_params(const QuantParams& params);

// Parameters in tensors: params_at() reads those at `index`. `zero_points` may be null, which
// stands for zeros. The check requires floating scales and integral or floating zero points.
Status check_param_tensors(const Tensor& scales, const Tensor* zero_points);
QuantParams params_at(const Tensor& scales, const Tensor* zero_points, int64_t index);

// `count` elements of `data`, from element `first` on, `stride` elements apart.
struct Run {
  void* data;
  ScalarType type;
  int64_t first;
  int64_t stride;
  int64_t count;
};

// Whether values are rounded before or after the zero point is added. Results differ only in ties.
enum class Rounding { kBeforeZeroPoint, kAfterZeroPoint };

// Quantize or dequantize a run. REQUIRES: both runs have the same count; the checks above hold.
void quantize_run(const Run& from, const QuantParams& params, QuantRange range, Rounding rounding,
                  const Run& to);
void dequantize_run(const Run& from, const QuantParams& params, const Run& to);

// Calls visit(c, from, to) with the elements of each channel along `axis`, in one or more runs.
// REQUIRES: both tensors have the same sizes and dim order.
template <typename Visit>
void for_each_channel_run(const Tensor& from, const Tensor& to, int64_t axis, Visit visit) {
  // In memory the tensor is [outer, channels, inner].
  const int64_t channels = from.size(axis);
  const int64_t inner = from.strides()[static_cast<size_t>(axis)];
  if (from.numel() == 0) return;
  const int64_t outer = from.numel() / (channels * inner);
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t runs = inner == 1 ? 1 : outer;
    for (int64_t o = 0; o < runs; ++o) {
      const int64_t first = (o * channels + c) * inner;
      const int64_t stride = inner == 1 ? channels : 1;
      const int64_t count = inner == 1 ? outer : inner;
      visit(c, Run{from.mutable_data(), from.scalar_type(), first, stride, count},
            Run{to.mutable_data(), to.scalar_type(), first, stride, count});
    }
  }
}

}  // namespace taper::portable
