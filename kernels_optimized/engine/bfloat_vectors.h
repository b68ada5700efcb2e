// Vectors of bfloat16 in memory. Included once per instruction set, as vectors.h is.

#if defined(TAPER_BFLOAT_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPER_BFLOAT_VECTORS_INL
#undef TAPER_BFLOAT_VECTORS_INL
#else
#define TAPER_BFLOAT_VECTORS_INL
#endif

#include <cstdint>

#include "kernels_optimized/engine/vectors.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

// Rounds to nearest even; NaN stays NaN.
HWY_INLINE void store_bfloat(Vec x, uint16_t* to) {
  const hn::RebindToSigned<Tag> ints;
  const hn::RebindToUnsigned<Tag> unsigneds;
  const hn::Rebind<uint16_t, Tag> shorts;
  const auto bits = hn::BitCast(unsigneds, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(unsigneds, 1));
  const auto nearest = hn::Add(bits, hn::Add(odd, hn::Set(unsigneds, 0x7fff)));
  const Vec kept = hn::IfThenElse(hn::IsNaN(x), hn::BitCast(kTag, hn::Set(unsigneds, 0x7fc00000)),
                                  hn::BitCast(kTag, nearest));
  const auto upper = hn::BitCast(ints, hn::ShiftRight<16>(hn::BitCast(unsigneds, kept)));
  hn::StoreU(hn::DemoteTo(shorts, upper), shorts, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#endif  // Once per instruction set.
