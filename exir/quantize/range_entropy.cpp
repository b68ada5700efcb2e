// For ranges between a quarter of all values and all of them: the distribution of the values, with
// those outside in the outermost bins, is compared with what 256 steps can express of it.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exir/quantize/ranges.h"

namespace taper::exir {
namespace {

constexpr int kTrials = 48;

// The divergence of `steps` equal parts of the bins [first, last] from these bins.
double divergence(const Histogram& histogram, size_t first, size_t last, size_t steps) {
  const size_t count = last - first + 1;
  std::vector<double> whole(count), inside(count);
  for (size_t i = 0; i < Histogram::kBins; ++i) {
    whole[std::clamp(i, first, last) - first] += histogram.bin(i);
    if (i >= first && i <= last) inside[i - first] += histogram.bin(i);
  }
  double total = 0, kept = 0, sum = 0;
  for (size_t i = 0; i < count; ++i) {
    total += whole[i];
    kept += inside[i];
  }
  if (kept == 0) return std::numeric_limits<double>::infinity();
  for (size_t step = 0; step < steps; ++step) {
    const size_t begin = step * count / steps, end = (step + 1) * count / steps;
    double mass = 0, filled = 0;
    for (size_t i = begin; i < end; ++i) {
      mass += inside[i];
      filled += inside[i] > 0;
    }
    for (size_t i = begin; i < end; ++i) {
      if (whole[i] == 0) continue;
      const double p = whole[i] / total;
      const double q = inside[i] > 0 ? mass / filled / kept : 1e-9;
      sum += p * std::log(p / q);
    }
  }
  return sum;
}

}  // namespace

Range entropy_range(const Histogram& histogram) {
  const Range full = {std::min(histogram.min(), 0.0), std::max(histogram.max(), 0.0)};
  const double start = histogram.middle(0) - histogram.width() / 2;
  const auto bin_of = [&](double value) {
    const double at = std::floor((value - start) / histogram.width());
    return static_cast<size_t>(std::clamp(at, 0.0, Histogram::kBins - 1.0));
  };
  Range best = full;
  double least = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial <= kTrials; ++trial) {
    const double part = 1 - 0.75 * trial / kTrials;
    const Range range = {full.low * part, full.high * part};
    const size_t first = bin_of(range.low), last = bin_of(range.high);
    const double lost = divergence(histogram, first, last, std::min<size_t>(256, last - first + 1));
    if (lost >= least) continue;
    least = lost;
    best = range;
  }
  return best;
}

}  // namespace taper::exir
