// taper::quantize_rows.out: int8 with a scale and a zero point for each row, the last dimension, as
// torchao chooses them.
//
//   low, high    the least and the largest element, and 0
//   scale        (high - low) / 255, or max(-low, high) / 127.5 if symmetric; at least eps
//   zero point   -128 - round(low / scale), within int8; 0 if symmetric
//   out          clamp(round(x * (1 / scale)) + zero point)
//
// A row with NaN or an infinite range has the scale NaN.

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels_portable/cores/quantized/row_sizes.h"
#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

constexpr float kLeast = -128, kMost = 127;

struct RowParams {
  float scale;
  float zero_point;
};

RowParams params_of(const float* row, int64_t count, bool symmetric, float eps) {
  float low = 0, high = 0, rest = 0;
  for (int64_t i = 0; i < count; ++i) {
    low = std::min(low, row[i]);
    high = std::max(high, row[i]);
    rest += row[i] - row[i];  // NaN if an element is not finite.
  }
  const float range = symmetric ? std::max(-low, high) / 127.5f : (high - low) / 255.0f;
  const float scale = std::max(range, eps);
  if (std::isnan(rest) || !std::isfinite(scale)) {
    return {std::numeric_limits<float>::quiet_NaN(), 0};
  }
  if (symmetric) return {scale, 0};
  const float offset = kLeast - std::nearbyint(low / scale);
  return {scale, std::min(std::max(offset, kLeast), kMost)};
}

void quantize_row(const float* row, int64_t count, const RowParams& params, int8_t* to) {
  // Adding and subtracting this number rounds to the nearest integer, ties to even. It is exact for
  // magnitudes below 2^22; larger ones are clamped anyway.
  constexpr float kRounder = 12582912.0f;
  const float inverse = 1 / params.scale;
  for (int64_t i = 0; i < count; ++i) {
    float x = row[i] * inverse;
    x = x > -1024 ? x : -1024;  // NaN, too.
    x = x < 1024 ? x : 1024;
    x = (x + kRounder) - kRounder + params.zero_point;
    to[i] = static_cast<int8_t>(std::min(std::max(x, kLeast), kMost));
  }
}

Status quantize_rows_out(KernelContext&, const Tensor& input, bool symmetric, double eps,
                         Tensor& out, Tensor& scales, Tensor& zero_points) {
  TAPER_REQUIRE(
      input.scalar_type() == ScalarType::kFloat && scales.scalar_type() == ScalarType::kFloat &&
          out.scalar_type() == ScalarType::kChar && zero_points.scalar_type() == ScalarType::kChar,
      Error::kInvalidType, "quantize_rows: float32 becomes int8 with float32 scales");
  TAPER_REQUIRE(input.dim() >= 1 && eps > 0, Error::kInvalidArgument,
                "quantize_rows: there must be rows, and eps must be positive");
  TAPER_REQUIRE(input.is_contiguous() && out.is_contiguous() && scales.is_contiguous() &&
                    zero_points.is_contiguous(),
                Error::kNotSupported, "quantize_rows: tensors must be contiguous");
  const size_t last = static_cast<size_t>(input.dim()) - 1;
  const int64_t count = input.sizes()[last];
  TAPER_TRY(out.resize(input.sizes()));
  TAPER_TRY(resize_rows(scales, input, last, 1));
  TAPER_TRY(resize_rows(zero_points, input, last, 1));
  for (int64_t row = 0; row < scales.numel(); ++row) {
    const float* from = input.const_data_ptr<float>() + row * count;
    const RowParams params = params_of(from, count, symmetric, static_cast<float>(eps));
    scales.mutable_data_ptr<float>()[row] = params.scale;
    zero_points.mutable_data_ptr<int8_t>()[row] = static_cast<int8_t>(params.zero_point);
    quantize_row(from, count, params, out.mutable_data_ptr<int8_t>() + row * count);
  }
  return {};
}

}  // namespace

extern const Kernel kQuantizeRowsOut;
const Kernel kQuantizeRowsOut = make_kernel<quantize_rows_out>("taper::quantize_rows.out");

}  // namespace taper::portable
