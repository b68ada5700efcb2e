// The rows of a register tile: how many fit into the registers of an instruction set, and functions
// for each number of rows. Included once per instruction set, so there is no ordinary include
// guard.

#if defined(TAPER_STRIPS_FORM) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPER_STRIPS_FORM
#undef TAPER_STRIPS_FORM
#else
#define TAPER_STRIPS_FORM
#endif

#include <cstdint>
#include <type_traits>

#include "kernels_optimized/engine/vectors.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

// The most rows of a tile that is two vectors wide.
#if HWY_TARGET == HWY_AVX3
constexpr int64_t kStripRows = 12;
#elif HWY_ARCH_X86
constexpr int64_t kStripRows = 6;
#elif HWY_ARCH_WASM  // Browsers keep some of 16 registers, and none adds a product in one step.
constexpr int64_t kStripRows = 4;
#else
constexpr int64_t kStripRows = 8;
#endif

// The height of the next strip if `rows` rows are left: one for which with_rows() has a function.
HWY_INLINE int64_t strip_height(int64_t rows) {
  if (rows >= kStripRows) return kStripRows;
  return rows >= 8 ? 8 : rows >= 6 ? 6 : rows;
}

// Calls run() with the one of the constants that n is; with the last, if n is none of them.
template <int kFirst, int... kOthers, typename Run>
HWY_INLINE void with_one_of(int64_t n, Run run) {
  if constexpr (sizeof...(kOthers) == 0) {
    run(std::integral_constant<int, kFirst>());
  } else if (n == kFirst) {
    run(std::integral_constant<int, kFirst>());
  } else {
    with_one_of<kOthers...>(n, run);
  }
}

// Calls run() with the number of rows, a height of a strip, as a constant.
template <typename Run>
HWY_INLINE void with_rows(int64_t rows, Run run) {
  with_one_of<1, 2, 3, 4, 5, 6, 8, kStripRows>(rows, run);
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#endif  // Once per instruction set.
