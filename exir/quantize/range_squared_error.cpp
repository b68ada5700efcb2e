// Shrinks each end of the range in turn as long as the squared error falls.

#include <algorithm>

#include "exir/quantize/ranges.h"

namespace taper::exir {
namespace {

constexpr int kParts = 32;  // Ends are moved by this fraction of the whole range.

// The best of the ranges in which `end` is `full` times 1, 31/32, 30/32 ...
void improve(const Histogram& histogram, double full, double Range::*end, Range& best,
             double& least) {
  Range range = best;
  for (int part = kParts; part > 0; --part) {
    range.*end = full * part / kParts;
    const double error = squared_error(histogram, scale_of(range));
    if (error >= least) continue;
    least = error;
    best = range;
  }
}

}  // namespace

Range squared_error_range(const Histogram& histogram) {
  const Range full = {std::min(histogram.min(), 0.0), std::max(histogram.max(), 0.0)};
  Range best = full;
  double least = squared_error(histogram, scale_of(best));
  for (int round = 0; round < 2; ++round) {
    if (full.high > 0) improve(histogram, full.high, &Range::high, best, least);
    if (full.low < 0) improve(histogram, full.low, &Range::low, best, least);
  }
  return best;
}

}  // namespace taper::exir
