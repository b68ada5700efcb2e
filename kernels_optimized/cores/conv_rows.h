// Vector loads from an input row of a convolution: every element or every stride-th one, with zeros
// before the row begins and after it ends. Nothing outside the row is read.

#if defined(TAPER_CONV_ROWS_FORM) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPER_CONV_ROWS_FORM
#undef TAPER_CONV_ROWS_FORM
#else
#define TAPER_CONV_ROWS_FORM
#endif

#include <algorithm>

#include "kernels_optimized/engine/vectors.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

// Loads elements x, x + 1, ... of a row of `width` elements.
HWY_INLINE Vec load_inside(const float* row, int64_t x, int64_t width) {
  if (x >= 0 && x + kLanes <= width) return hn::LoadU(kTag, row + x);
  const int64_t low = std::max(int64_t{0}, -x), high = std::min(kLanes, width - x);
  if (high <= low) return hn::Zero(kTag);
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN float buffer[kLanes] = {};
  std::memcpy(buffer + low, row + x + low, static_cast<size_t>(high - low) * sizeof(float));
  return hn::Load(kTag, buffer);
#else
  const auto from = hn::FirstN(kTag, static_cast<size_t>(low));
  const auto to = hn::FirstN(kTag, static_cast<size_t>(high));
  return hn::MaskedLoad(hn::AndNot(from, to), kTag, row + x);
#endif
}

// Loads elements x, x + stride, ... of a row of `width` elements.
HWY_INLINE Vec load_steps(const float* row, int64_t x, int64_t stride, int64_t width) {
  if (stride == 1) return load_inside(row, x, width);
  if (stride == 2) {
    const Vec low = load_inside(row, x, width), high = load_inside(row, x + kLanes, width);
    return hn::ConcatEven(kTag, high, low);
  }
  HWY_ALIGN float buffer[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    const int64_t at = x + i * stride;
    buffer[i] = at >= 0 && at < width ? row[at] : 0;
  }
  return hn::Load(kTag, buffer);
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#endif  // Once per instruction set.
