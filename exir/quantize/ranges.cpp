// Scales, errors, and the choice between methods; min/max, which needs no file of its own.

#include "exir/quantize/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace taper::exir {

namespace {
constexpr double kWorthIt = 0.75;  // Of the error of the range of all values.
}

const char* to_text(RangeMethod method) {
  constexpr const char* kNames[] = {"minmax", "percentile", "entropy", "mse"};
  return kNames[static_cast<size_t>(method)];
}

Range min_max_range(const Histogram& histogram) { return {histogram.min(), histogram.max()}; }

TensorScale scale_of(const Range& range) {
  constexpr double kSmallest = std::numeric_limits<float>::min();
  TensorScale out;
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0);
  const double steps = static_cast<double>(out.high - out.low);
  // A tensor that is always 0 gets any scale.
  out.scale = high - low > 0 ? std::max((high - low) / steps, kSmallest) : 1.0;
  out.scale = static_cast<double>(static_cast<float>(out.scale));
  out.zero_point = out.low - static_cast<int64_t>(std::nearbyint(low / out.scale));
  out.zero_point = std::clamp(out.zero_point, out.low, out.high);
  return out;
}

double squared_error(const Histogram& histogram, const TensorScale& scale) {
  double sum = 0;
  const auto zero = static_cast<double>(scale.zero_point);
  const double low = static_cast<double>(scale.low) - zero;
  const double high = static_cast<double>(scale.high) - zero;
  for (size_t i = 0; i < Histogram::kBins; ++i) {
    if (histogram.bin(i) == 0) continue;
    const double value = std::clamp(histogram.middle(i), histogram.min(), histogram.max());
    const double rounded = std::clamp(std::nearbyint(value / scale.scale), low, high) * scale.scale;
    sum += histogram.bin(i) * (value - rounded) * (value - rounded);
  }
  return histogram.empty() ? 0 : sum / histogram.count();
}

ChosenRange choose_range(const Histogram& histogram, std::optional<RangeMethod> method) {
  ChosenRange best;
  best.error = std::numeric_limits<double>::infinity();
  const auto offer = [&](RangeMethod each, Range (*range_of)(const Histogram&)) {
    if (method && *method != each) return;
    ChosenRange chosen{range_of(histogram), each, {}, 0};
    chosen.scale = scale_of(chosen.range);
    chosen.error = squared_error(histogram, chosen.scale);
    // Unseen values are cut off by a tighter range: it has to be worth it.
    const bool tighter = best.method == RangeMethod::kMinMax && std::isfinite(best.error);
    if (chosen.error < (tighter ? kWorthIt : 1) * best.error) best = chosen;
  };
  offer(RangeMethod::kMinMax, min_max_range);
  offer(RangeMethod::kPercentile, percentile_range);
  offer(RangeMethod::kEntropy, entropy_range);
  offer(RangeMethod::kSquaredError, squared_error_range);
  return best;
}

}  // namespace taper::exir
