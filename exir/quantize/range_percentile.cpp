// Of a few percentiles, the one with the smallest squared error.

#include <algorithm>
#include <limits>

#include "exir/quantize/ranges.h"

namespace taper::exir {
namespace {

// Cuts off the values at either end that make up `tail` of all.
Range without_tails(const Histogram& histogram, double tail) {
  const double limit = tail * histogram.count();
  size_t first = 0, last = Histogram::kBins - 1;
  for (double below = histogram.bin(first); below < limit && first < last;) {
    below += histogram.bin(++first);
  }
  for (double above = histogram.bin(last); above < limit && last > first;) {
    above += histogram.bin(--last);
  }
  const double half = histogram.width() / 2;
  return {std::max(histogram.min(), histogram.middle(first) - half),
          std::min(histogram.max(), histogram.middle(last) + half)};
}

}  // namespace

Range percentile_range(const Histogram& histogram) {
  Range best = min_max_range(histogram);
  double least = std::numeric_limits<double>::infinity();
  for (const double tail : {1e-5, 1e-4, 1e-3}) {
    const Range range = without_tails(histogram, tail);
    const double error = squared_error(histogram, scale_of(range));
    if (error >= least) continue;
    least = error;
    best = range;
  }
  return best;
}

}  // namespace taper::exir
