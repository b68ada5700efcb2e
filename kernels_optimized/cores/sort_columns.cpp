// Sorting of columns by Batcher's merge exchange (Knuth, The Art of Computer Programming, volume 3,
// algorithm 5.2.2M): which rows are compared does not depend on what they hold.

#include "kernels_optimized/cores/sort.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/sort_columns.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vectors.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

// Puts the smaller elements of two rows into the first, for all rows [first, last) and those
// `distance` after them.
static HWY_INLINE void exchange(uint64_t* rows, int64_t first, int64_t last, int64_t distance) {
  constexpr hn::CappedTag<uint64_t, kSortColumns> kTag64 = {};
  uint64_t* low = rows + first * kSortColumns;
  uint64_t* high = low + distance * kSortColumns;
  const int64_t count = (last - first) * kSortColumns;
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(kTag64))) {
    const auto a = hn::LoadU(kTag64, low + i), b = hn::LoadU(kTag64, high + i);
    hn::StoreU(hn::Min(a, b), kTag64, low + i);
    hn::StoreU(hn::Max(a, b), kTag64, high + i);
  }
}

void sort_columns_form(uint64_t* rows, int64_t length) {
  int64_t half = 1;  // The largest power of two below the length.
  while (2 * half < length) half *= 2;
  for (int64_t p = half; p > 0; p /= 2) {
    // Rows whose numbers have the bit p set, or not, as `bit` says.
    for (int64_t q = half, bit = 0, distance = p;; distance = q - p, q /= 2, bit = p) {
      for (int64_t i = bit; i + distance < length; i += 2 * p) {
        const int64_t end = i + p < length - distance ? i + p : length - distance;
        exchange(rows, i, end, distance);
      }
      if (q == p) break;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {

SortColumns find_sort_columns() { return TAPER_CHOOSE(SortColumns, sort_columns_form); }

}  // namespace taper::optimized
#endif  // HWY_ONCE
