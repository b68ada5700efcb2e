#include "exir/ir/checked_ranges.h"

namespace taper::exir {

SymRanges checked_ranges(SymRanges ranges) {
  for (auto& [symbol, range] : ranges) {
    if (range.min > 0 && range.min <= kNeverChecked) range.min = 0;
  }
  return ranges;
}

bool always_holds(const Sym& condition, const SymRanges& ranges) {
  const SymRange range = condition.range(ranges);
  return range.min > 0 || range.max < 0;
}

}  // namespace taper::exir
