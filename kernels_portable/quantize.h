// Affine quantization: q = round(x / scale) + zero_point, limited to [quant_min, quant_max], and
// x = (q - zero_point) * scale. What the operators of quantized_decomposed share.

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::portable {

struct QuantRange {
  int64_t min;
  int64_t max;
};

// One set of parameters, for a tensor, a channel or a token.
struct QuantParams {
  double scale;
  int64_t zero_point;
};

// Requires that `dtype` holds quantized values and that the range is not empty and fits it.
Status check_quant_range(QuantRange range, ScalarType dtype);
// Requires what the arithmetic below needs of the parameters: a zero point of 32 bits.
Status check_quant_params(const QuantParams& params);

// The parameters in element `index` of tensors; `zero_points` may be null, for zeros.
// Requires floating scales and integral or floating zero points.
Status check_param_tensors(const Tensor& scales, const Tensor* zero_points);
QuantParams params_at(const Tensor& scales, const Tensor* zero_points, int64_t index);

// Elements `stride` apart.
struct Run {
  void* data;
  ScalarType type;
  int64_t first;
  int64_t stride;
  int64_t count;
};

// Where the zero point is added: after rounding, or before, which differs in ties alone.
enum class Rounding { kBeforeZeroPoint, kAfterZeroPoint };

// REQUIRES: as many elements in both; the checks above hold.
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
