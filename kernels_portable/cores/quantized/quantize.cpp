// The arithmetic of affine quantization, in float unless scales or outputs are double; see
// quantize.h.

#include "kernels_portable/cores/quantized/quantize.h"

#include <algorithm>
#include <cmath>

#include "kernels_portable/engine/compute.h"

namespace taper::portable {
namespace {

constexpr int64_t kPart = 128;

// The values that `dtype` can represent; an empty range if it cannot hold quantized values.
QuantRange range_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kByte:
      return {0, UINT8_MAX};
    case ScalarType::kChar:
      return {INT8_MIN, INT8_MAX};
    case ScalarType::kShort:
      return {INT16_MIN, INT16_MAX};
    case ScalarType::kUInt16:
      return {0, UINT16_MAX};
    case ScalarType::kInt:
      return {INT32_MIN, INT32_MAX};
    default:
      return {0, -1};
  }
}

Run part_of(const Run& run, int64_t first, int64_t count) {
  return {run.data, run.type, run.first + first * run.stride, run.stride, count};
}
void* start_of(const Run& run) { return element(run.data, run.first, run.type); }

// Adding and subtracting 1.5 * 2^23 rounds a float below 2^22 to the nearest integer, ties to even,
// without a call of the C library.
constexpr int64_t kSmall = 1 << 22;
constexpr float kRounder = 12582912.0f;

// to[i] = values[i] * inverse, rounded and clamped, for ranges whose limits are below kSmall.
void round_small(const float* values, int64_t count, float inverse, int32_t shift, float low,
                 float high, int32_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    float x = values[i] * inverse;
    x = x > low ? x : low;  // NaN becomes the lower limit.
    x = x < high ? x : high;
    to[i] = static_cast<int32_t>((x + kRounder) - kRounder) + shift;
  }
}

// to[i] = values[i] * inverse + before, rounded, plus `after`, clamped to `range`. If `after`, a
// zero point, has a fraction, the result is truncated.
template <typename T>
void round_any(const float* values, int64_t count, T inverse, double before, double after,
               QuantRange range, int32_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    const T product = static_cast<T>(values[i]) * inverse + static_cast<T>(before);
    const auto x = static_cast<double>(std::nearbyint(product) + static_cast<T>(after));
    const double low = static_cast<double>(range.min);
    const double high = static_cast<double>(range.max);
    to[i] = static_cast<int32_t>(x > low ? std::min(x, high) : low);
  }
}

template <typename T>
void narrow(const int32_t* from, const Run& to) {
  T* data = static_cast<T*>(start_of(to));
  for (int64_t i = 0; i < to.count; ++i) data[i * to.stride] = static_cast<T>(from[i]);
}

void store_quantized(const int32_t* from, const Run& to) {
  switch (element_size(to.type)) {
    case 1:
      return narrow<uint8_t>(from, to);
    case 2:
      return narrow<uint16_t>(from, to);
    default:
      return narrow<int32_t>(from, to);
  }
}

// Rounds values to a 16-bit dtype. REQUIRES: count is at most kPart.
template <typename T>
void round_to(ScalarType dtype, T* values, int64_t count) {
  uint16_t rounded[kPart];
  storer<T>(dtype)(values, count, rounded, 1);
  loader<T>(dtype)(rounded, 1, count, values);
}

template <typename Byte, typename T>
void wrap(T* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(static_cast<Byte>(static_cast<int32_t>(values[i])));
  }
}

// Differences from the zero point, of values of type `from`. REQUIRES: count is at most kPart.
template <typename T>
void subtract_zero_point(ScalarType from, const QuantParams& params, T* values, int64_t count) {
  const T zero_point = static_cast<T>(params.zero_point);
  for (int64_t i = 0; i < count; ++i) values[i] -= zero_point;
  if (is_floating(params.difference)) {
    if (element_size(params.difference) == sizeof(uint16_t)) {
      round_to(params.difference, values, count);
    }
  } else if (params.difference == from) {
    if (from == ScalarType::kChar) wrap<int8_t>(values, count);
    if (from == ScalarType::kByte) wrap<uint8_t>(values, count);
  }
}

template <typename T>
void dequantize_as(const Run& from, const QuantParams& params, const Run& to) {
  const LoadFunction<T> load = loader<T>(from.type);
  const StoreFunction<T> store = storer<T>(to.type);
  const T scale = static_cast<T>(params.scale);
  const bool is_rounded = element_size(params.product) == sizeof(uint16_t);
  T values[kPart];
  for (int64_t i = 0; i < from.count; i += kPart) {
    const int64_t count = std::min(kPart, from.count - i);
    load(start_of(part_of(from, i, count)), from.stride, count, values);
    subtract_zero_point(from.type, params, values, count);
    for (int64_t j = 0; j < count; ++j) values[j] *= scale;
    if (is_rounded) round_to(params.product, values, count);
    store(values, count, start_of(part_of(to, i, count)), to.stride);
  }
}

}  // namespace

Status check_quant_range(QuantRange range, ScalarType dtype) {
  const QuantRange widest = range_of(dtype);
  TAPER_REQUIRE(widest.min <= widest.max, Error::kInvalidType,
                "quantize: quantized values are 8, 16 or 32-bit integers");
  TAPER_REQUIRE(range.min <= range.max && range.min >= widest.min && range.max <= widest.max,
                Error::kInvalidArgument, "quantize: quant_min and quant_max do not fit the dtype");
  return {};
}

Status check_quant_params(const QuantParams& params) {
  TAPER_REQUIRE(params.zero_point >= INT32_MIN && params.zero_point <= INT32_MAX,
                Error::kInvalidArgument, "quantize: zero_point out of range");
  return {};
}

Status check_param_tensors(const Tensor& scales, const Tensor* zero_points) {
  TAPER_REQUIRE(is_floating(scales.scalar_type()), Error::kInvalidType,
                "quantize: scales must be floating point");
  TAPER_REQUIRE(scales.is_contiguous() && (zero_points == nullptr || zero_points->is_contiguous()),
                Error::kNotSupported, "quantize: scales and zero points must be contiguous");
  TAPER_REQUIRE(zero_points == nullptr || zero_points->numel() == scales.numel(),
                Error::kInvalidArgument, "quantize: there must be a zero point for each scale");
  return {};
}

QuantParams params_at(const Tensor& scales, const Tensor* zero_points, int64_t index) {
  const auto at = [&](const Tensor& tensor) {
    return element(tensor.const_data(), index, tensor.scalar_type());
  };
  QuantParams params = {load_one<double>(at(scales), scales.scalar_type()), 0, scales.scalar_type(),
                        ScalarType::kDouble};
  if (zero_points != nullptr) {
    params.difference = zero_points->scalar_type();
    params.zero_point = load_one<double>(at(*zero_points), params.difference);
    if (is_floating(params.difference) && params.difference != params.product) {
      params.product = ScalarType::kDouble;
    }
  }
  return params;
}

void quantize_run(const Run& from, const QuantParams& params, QuantRange range, Rounding rounding,
                  const Run& to) {
  const LoadFunction<float> load = loader<float>(from.type);
  const double low = static_cast<double>(range.min) - params.zero_point;
  const double high = static_cast<double>(range.max) - params.zero_point;
  const bool add_first = rounding == Rounding::kAfterZeroPoint;
  const bool small = !add_first && low > -kSmall && high < kSmall && low == std::nearbyint(low);
  float values[kPart];
  int32_t quantized[kPart];
  for (int64_t i = 0; i < from.count; i += kPart) {
    const int64_t count = std::min(kPart, from.count - i);
    load(start_of(part_of(from, i, count)), from.stride, count, values);
    if (small) {
      round_small(values, count, static_cast<float>(1.0 / params.scale),
                  static_cast<int32_t>(params.zero_point), static_cast<float>(low),
                  static_cast<float>(high), quantized);
    } else if (add_first) {
      round_any<double>(values, count, 1.0 / params.scale, params.zero_point, 0, range, quantized);
    } else {
      round_any<float>(values, count, static_cast<float>(1.0 / params.scale), 0, params.zero_point,
                       range, quantized);
    }
    store_quantized(quantized, part_of(to, i, count));
  }
}

void dequantize_run(const Run& from, const QuantParams& params, const Run& to) {
  if (in_double(to.type)) return dequantize_as<double>(from, params, to);
  dequantize_as<float>(from, params, to);
}

}  // namespace taper::portable
