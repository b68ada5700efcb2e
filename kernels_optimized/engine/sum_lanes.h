// The sums of the lanes of four vectors, which takes half as long as one after the other.

#if defined(TAPER_SUM_LANES_FORM) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPER_SUM_LANES_FORM
#undef TAPER_SUM_LANES_FORM
#else
#define TAPER_SUM_LANES_FORM
#endif

#include "kernels_optimized/engine/vectors.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

using Four = hn::CappedTag<float, 4>;

// The sums of four parts of the lanes, those of lanes that are four apart.
template <typename V>
HWY_INLINE auto fold(V sums) {
  if constexpr (hn::MaxLanes(hn::DFromV<V>()) <= 4) {
    return sums;
  } else {
    const hn::Half<hn::DFromV<V>> half;
    return fold(hn::Add(hn::LowerHalf(half, sums), hn::UpperHalf(half, sums)));
  }
}

// The sums of the lanes of four vectors, side by side.
HWY_INLINE hn::Vec<Four> sum_lanes(Vec a, Vec b, Vec c, Vec d) {
  constexpr Four four;
  const auto pairs = [&](Vec x, Vec y) HWY_ATTR {
    const auto p = fold(x), q = fold(y);
    return hn::Add(hn::InterleaveLower(four, p, q), hn::InterleaveUpper(four, p, q));
  };
  const auto ab = pairs(a, b), cd = pairs(c, d);
  return hn::Add(hn::ConcatLowerLower(four, cd, ab), hn::ConcatUpperUpper(four, cd, ab));
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#endif  // Once per instruction set.
