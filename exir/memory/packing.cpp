// Gap searches over rows that are sorted by offset, linear in their number; those that are never
// alive together with the new row are skipped.

#include "exir/memory/packing.h"

namespace taper::exir {

uint64_t lowest_gap(const std::vector<PlanRow>& rows, const std::vector<uint64_t>& offsets,
                    const RowOrder& placed, const PlanRow& row) {
  uint64_t at = 0;
  for (size_t other : placed) {
    if (!alive_together(rows[other], row)) continue;
    if (offsets[other] >= at + row.bytes) break;
    at = std::max(at, offsets[other] + rows[other].bytes);
  }
  return at;
}

uint64_t tightest_gap(const std::vector<PlanRow>& rows, const std::vector<uint64_t>& offsets,
                      const RowOrder& placed, const PlanRow& row) {
  uint64_t at = 0, best = UINT64_MAX, best_room = UINT64_MAX;
  for (size_t other : placed) {
    if (!alive_together(rows[other], row)) continue;
    if (offsets[other] > at && offsets[other] - at >= row.bytes &&
        offsets[other] - at < best_room) {
      best = at;
      best_room = offsets[other] - at;
    }
    at = std::max(at, offsets[other] + rows[other].bytes);
  }
  return best == UINT64_MAX ? at : best;
}

uint64_t hanging_gap(const std::vector<PlanRow>& rows, const std::vector<uint64_t>& offsets,
                     const RowOrder& placed, const PlanRow& row, uint64_t ceiling) {
  uint64_t end = ceiling;
  for (bool blocked = true; blocked && end >= row.bytes;) {
    blocked = false;
    for (size_t other : placed) {
      const bool apart =
          offsets[other] >= end || offsets[other] + rows[other].bytes <= end - row.bytes;
      if (apart || !alive_together(rows[other], row)) continue;
      end = offsets[other];
      blocked = true;
      break;
    }
  }
  return end >= row.bytes ? end - row.bytes : lowest_gap(rows, offsets, placed, row);
}

}  // namespace taper::exir
