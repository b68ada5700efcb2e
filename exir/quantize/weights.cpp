// One scale for each channel or group, from its largest element or, at 4 bits, by trial.

#include "exir/quantize/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels_portable/engine/half.h"

namespace taper::exir {
namespace {

// Scales of groups go into bfloat16 on the device: rounding them first costs nothing.
float rounded_to_bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bits += 0x7fff + ((bits >> 16) & 1);
  bits &= 0xffff0000U;
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

double error_of(const std::vector<float>& values, float scale, double low, double high) {
  double sum = 0;
  for (const float value : values) {
    const double at = static_cast<double>(value) / static_cast<double>(scale);
    const double rounded = std::clamp(std::nearbyint(at), low, high) * static_cast<double>(scale);
    const double error = static_cast<double>(value) - rounded;
    sum += error * error;
  }
  return sum;
}

// The scale among fractions of the largest with the smallest squared error.
float best_scale(const std::vector<float>& values, float largest, const QuantisedWeight& weight) {
  const auto low = static_cast<double>(weight.low), high = static_cast<double>(weight.high);
  float best = largest;
  double least = error_of(values, largest, low, high);
  for (int part = 95; part >= 60; part -= 5) {
    float scale = largest * static_cast<float>(part) / 100;
    if (weight.group != 0) scale = rounded_to_bfloat16(scale);
    const double error = error_of(values, scale, low, high);
    if (error >= least) continue;
    least = error;
    best = scale;
  }
  return best;
}

}  // namespace

QuantisedWeight round_weight(const std::vector<float>& elements, const std::vector<int64_t>& sizes,
                             size_t axis, const WeightFormat& format) {
  QuantisedWeight out;
  if (format.bits == kHalfBits) {
    for (const float element : elements) {
      out.halves.push_back(portable::float_to_half(element).bits);
    }
    return out;
  }
  out.axis = axis;
  out.group = format.group;
  out.high = format.bits == 8 ? 127 : 7;
  out.low = format.bits == 8 ? -127 : -8;
  const size_t scales = format.group != 0 ? elements.size() / static_cast<size_t>(format.group)
                                          : static_cast<size_t>(sizes[axis]);
  std::vector<std::vector<float>> values(scales);  // Of each channel or group.
  for_each_scaled(sizes, axis, format.group,
                  [&](size_t i, size_t s) { values[s].push_back(elements[i]); });
  out.scales.resize(scales, 0);
  float largest_of_all = 0;
  for (size_t s = 0; s < scales; ++s) {
    float largest = 0;
    for (const float value : values[s]) largest = std::max(largest, std::fabs(value));
    float scale = largest / static_cast<float>(out.high);
    if (out.group != 0) scale = rounded_to_bfloat16(scale);
    if (scale > 0 && format.bits < 8) scale = best_scale(values[s], scale, out);
    out.scales[s] = scale;
    largest_of_all = std::max(largest_of_all, scale);
  }
  // A channel of zeros gets any scale; a moderate one keeps ratios of scales in bounds.
  for (float& scale : out.scales) {
    if (!(scale > 0)) scale = largest_of_all > 0 ? largest_of_all : 1;
  }
  out.integers.resize(elements.size());
  for_each_scaled(sizes, axis, format.group, [&](size_t i, size_t s) {
    const float at = std::nearbyint(elements[i] / out.scales[s]);
    out.integers[i] = static_cast<int8_t>(
        std::clamp(at, static_cast<float>(out.low), static_cast<float>(out.high)));
  });
  return out;
}

std::vector<float> restored(const QuantisedWeight& weight, const std::vector<int64_t>& sizes) {
  if (!weight.halves.empty()) {
    std::vector<float> out;
    for (const uint16_t bits : weight.halves) {
      out.push_back(portable::half_to_float(portable::Half{bits}));
    }
    return out;
  }
  std::vector<float> out(weight.integers.size());
  for_each_scaled(sizes, weight.axis, weight.group, [&](size_t i, size_t s) {
    out[i] = static_cast<float>(weight.integers[i]) * weight.scales[s];
  });
  return out;
}

}  // namespace taper::exir
