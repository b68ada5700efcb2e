// The vector type of the form that is being compiled, and loads and stores of partial vectors.
// Included once per instruction set, so there is no ordinary include guard.

#if defined(TAPER_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPER_VECTORS_INL
#undef TAPER_VECTORS_INL
#else
#define TAPER_VECTORS_INL
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels_optimized/engine/dispatch.h"

// Makes the compiler unroll the next loop: loops over the rows of a tile, whose sums must stay in
// registers.
#undef TAPER_UNROLL
#if defined(__clang__)
#define TAPER_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TAPER_UNROLL _Pragma("GCC unroll 32")
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vec = hn::Vec<Tag>;
constexpr Tag kTag = {};
constexpr int64_t kLanes = static_cast<int64_t>(HWY_LANES(float));

// Loads the first `count` elements at `from`, fewer than a vector has; the others are 0.
HWY_INLINE Vec load_some(const float* from, int64_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN float buffer[kLanes] = {};
  TAPER_UNROLL
  for (int64_t i = 0; i < kLanes - 1; ++i) {  // Calling memcpy for a few takes longer.
    if (i < count) buffer[i] = from[i];
  }
  return hn::Load(kTag, buffer);
#else
  return hn::MaskedLoad(hn::FirstN(kTag, static_cast<size_t>(count)), kTag, from);
#endif
}

// Writes the first `count` elements, fewer than a vector has, and nothing else.
HWY_INLINE void store_some(Vec value, float* to, int64_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN float buffer[kLanes];
  hn::Store(value, kTag, buffer);
  TAPER_UNROLL
  for (int64_t i = 0; i < kLanes - 1; ++i) {  // Calling memcpy for a few takes longer.
    if (i < count) to[i] = buffer[i];
  }
#else
  hn::BlendedStore(value, hn::FirstN(kTag, static_cast<size_t>(count)), kTag, to);
#endif
}

// Load or store a whole vector, or only the first `count` elements if there are fewer than it has.
HWY_INLINE Vec load_count(const float* from, int64_t count) {
  return count >= kLanes ? hn::LoadU(kTag, from) : load_some(from, count);
}
HWY_INLINE void store_count(Vec value, float* to, int64_t count) {
  if (count >= kLanes) {
    hn::StoreU(value, kTag, to);
  } else {
    store_some(value, to, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#endif  // Once per instruction set.
