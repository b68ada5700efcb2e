// A layer over planes, some of the results at a time; see plane_layer.h.

#include "kernels_optimized/cores/plane_layer.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/plane_layer.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// So many planes of results at once: each vector that is read serves them all.
constexpr int kOuts = 4;

// Computes `count` places, at most a vector, of kCount planes of results from `o` on.
template <int kCount>
HWY_INLINE void add_planes(const PlaneLayer& l, int64_t o, int64_t place, int64_t count) {
  Vec sums[kCount];
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i) sums[i] = constant(l.bias != nullptr ? l.bias[o + i] : 0);
  const float* weights = l.filter + o * l.ins;
  for (int64_t k = 0; k < l.ins; ++k) {
    const Vec x = load_count(l.in + k * l.area + place, count);
    TAPER_UNROLL
    for (int i = 0; i < kCount; ++i) {
      sums[i] = hn::MulAdd(x, constant(weights[i * l.ins + k]), sums[i]);
    }
  }
  const Vec min = constant(l.min), max = constant(l.max);
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i) {
    store_count(at_most(at_least(sums[i], min), max), l.out + (o + i) * l.area + place, count);
  }
}

HWY_INLINE void run_places(const PlaneLayer& l, int64_t place, int64_t count) {
  int64_t o = 0;
  for (; o + kOuts <= l.outs; o += kOuts) add_planes<kOuts>(l, o, place, count);
  for (; o < l.outs; ++o) add_planes<1>(l, o, place, count);
}

}  // namespace

void plane_layer_form(const PlaneLayer& layer, int64_t first, int64_t count) {
  const int64_t end = first + count;
  int64_t place = first;
  for (; place + kLanes <= end; place += kLanes) run_places(layer, place, kLanes);
  if (place < end) run_places(layer, place, end - place);
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {

void plane_layer(const PlaneLayer& layer, int64_t first, int64_t count) {
  using Run = void (*)(const PlaneLayer&, int64_t, int64_t);
  TAPER_CHOOSE(Run, plane_layer_form)(layer, first, count);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
