#include "kernels_optimized/fused.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/fused.cpp"
#include "kernels_optimized/dispatch.h"
// After the choice of targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

template <typename Apply>
HWY_INLINE void for_vectors(int64_t count, Apply apply) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) apply(i, kLanes);
  if (i < count) apply(i, count - i);
}

}  // namespace

void exponential_form(const float* in, float* out, int64_t count) {
  for_vectors(count, [=](int64_t i, int64_t n)
                         HWY_ATTR { store_count(exp_of(load_count(in + i, n)), out + i, n); });
}

void swish_form(const float* in, float* out, int64_t count) {
  for_vectors(count, [=](int64_t i, int64_t n)
                         HWY_ATTR { store_count(swish_of(load_count(in + i, n)), out + i, n); });
}

void add_clamped_form(const float* a, const float* b, float low, float high, float* out,
                      int64_t count) {
  const Vec least = constant(low), most = constant(high);
  for_vectors(count, [=](int64_t i, int64_t n) HWY_ATTR {
    const Vec sum = hn::Add(load_count(a + i, n), load_count(b + i, n));
    store_count(at_most(at_least(sum, least), most), out + i, n);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Unary = void (*)(const float*, float*, int64_t);
using AddClamped = void (*)(const float*, const float*, float, float, float*, int64_t);

}  // namespace

void exponential(const float* in, float* out, int64_t count) {
  TAPER_CHOOSE(Unary, exponential_form)(in, out, count);
}

void swish(const float* in, float* out, int64_t count) {
  TAPER_CHOOSE(Unary, swish_form)(in, out, count);
}

void add_clamped(const float* a, const float* b, float low, float high, float* out, int64_t count) {
  TAPER_CHOOSE(AddClamped, add_clamped_form)(a, b, low, high, out, count);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
