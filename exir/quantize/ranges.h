// Chooses the range of an activation that its integers span. Each method is one file.

#pragma once

#include <optional>
#include <string>

#include "exir/quantize/histogram.h"
#include "exir/quantize/plan.h"

namespace taper::exir {

struct Range {
  double low = 0, high = 0;
};

enum class RangeMethod : uint8_t { kMinMax, kPercentile, kEntropy, kSquaredError };
// "minmax", "percentile", "entropy", "mse".
const char* to_text(RangeMethod method);

// All values.
Range min_max_range(const Histogram& histogram);
// Without the rarest values at either end.
Range percentile_range(const Histogram& histogram);
// The range whose 256 steps lose the least information (Kullback-Leibler divergence).
Range entropy_range(const Histogram& histogram);
// The range with the smallest mean squared error.
Range squared_error_range(const Histogram& histogram);

// The scale for a range, as PyTorch's observers compute it: 0 is exact.
TensorScale scale_of(const Range& range);
// The mean squared error of the values when they are rounded to that scale.
double squared_error(const Histogram& histogram, const TensorScale& scale);

struct ChosenRange {
  Range range;
  RangeMethod method = RangeMethod::kMinMax;
  TensorScale scale;
  double error = 0;  // Mean squared.
};
// By one method, or the one whose error is the smallest; the range of all values unless another one
// has an error that is smaller by a quarter.
ChosenRange choose_range(const Histogram& histogram, std::optional<RangeMethod> method);

}  // namespace taper::exir
