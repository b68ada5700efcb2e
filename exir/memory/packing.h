// Greedy placement of rows in an arena, one after another, for the heuristics and the search.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exir/memory/plan.h"

namespace taper::exir {

// Indices of rows. `placed` rows are sorted by offset.
using RowOrder = std::vector<size_t>;

inline bool alive_together(const PlanRow& a, const PlanRow& b) {
  return a.first <= b.last && b.first <= a.last;
}

// The offset at which a row fits beside those placed: the lowest one, that of the smallest gap, or
// the highest one that ends below `ceiling` (the lowest one if there is none).
uint64_t lowest_gap(const std::vector<PlanRow>& rows, const std::vector<uint64_t>& offsets,
                    const RowOrder& placed, const PlanRow& row);
uint64_t tightest_gap(const std::vector<PlanRow>& rows, const std::vector<uint64_t>& offsets,
                      const RowOrder& placed, const PlanRow& row);
uint64_t hanging_gap(const std::vector<PlanRow>& rows, const std::vector<uint64_t>& offsets,
                     const RowOrder& placed, const PlanRow& row, uint64_t ceiling);

// Places rows in `order` at the offsets that `gap(offsets, placed, row index)` returns. Returns the
// offsets, and the size of the arena in `arena`.
template <typename GapOf>
std::vector<uint64_t> place(const std::vector<PlanRow>& rows, const RowOrder& order,
                            const GapOf& gap, uint64_t* arena) {
  std::vector<uint64_t> offsets(rows.size(), 0);
  RowOrder placed;
  *arena = 0;
  for (size_t i : order) {
    if (rows[i].bytes == 0) continue;
    offsets[i] = gap(offsets, placed, i);
    const auto spot = std::upper_bound(placed.begin(), placed.end(), i,
                                       [&](size_t a, size_t b) { return offsets[a] < offsets[b]; });
    placed.insert(spot, i);
    *arena = std::max(*arena, offsets[i] + rows[i].bytes);
  }
  return offsets;
}

}  // namespace taper::exir
