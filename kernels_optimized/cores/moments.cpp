// Means and squared differences of channels, some vectors of channels at a time; see moments.h.

#include "kernels_optimized/cores/moments.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/moments.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vectors.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

constexpr int kSums = 4;  // So many sums at once, since one addition waits for the one before.

// Pixels whose elements of some channels are read.
struct Column {
  const float* first;
  int64_t pixels;
  int64_t step;  // From one pixel to the next.
};

// Adds kSums consecutive vectors of each pixel. `add(sum, x, j)` returns the sum with x, which is
// vector j.
template <typename Add>
HWY_INLINE void add_wide(const Column& column, Vec (&sums)[kSums], Add add) {
  const float* from = column.first;
  for (int64_t p = 0; p < column.pixels; ++p, from += column.step) {
    TAPER_UNROLL
    for (int j = 0; j < kSums; ++j) sums[j] = add(sums[j], hn::LoadU(kTag, from + j * kLanes), j);
  }
}

// Moments of kSums vectors of channels.
void wide_moments(const Column& column, Vec part, float* means, float* squares) {
  Vec sums[kSums], centres[kSums];
  for (Vec& sum : sums) sum = hn::Zero(kTag);
  add_wide(column, sums, [](Vec sum, Vec x, int) HWY_ATTR { return hn::Add(sum, x); });
  for (int j = 0; j < kSums; ++j) {
    centres[j] = hn::Mul(sums[j], part);
    hn::StoreU(centres[j], kTag, means + j * kLanes);
    sums[j] = hn::Zero(kTag);
  }
  add_wide(column, sums, [&centres](Vec sum, Vec x, int j) HWY_ATTR {
    const Vec difference = hn::Sub(x, centres[j]);
    return hn::MulAdd(difference, difference, sum);
  });
  for (int j = 0; j < kSums; ++j) hn::StoreU(sums[j], kTag, squares + j * kLanes);
}

// The sum over all pixels of `count` channels, at most a vector; kSums pixels at a time.
template <typename Add>
HWY_INLINE Vec add_narrow(const Column& column, int64_t count, Add add) {
  Vec sums[kSums];
  for (Vec& sum : sums) sum = hn::Zero(kTag);
  const float* from = column.first;
  int64_t p = 0;
  for (; p + kSums <= column.pixels; p += kSums) {
    TAPER_UNROLL
    for (int j = 0; j < kSums; ++j, from += column.step) {
      sums[j] = add(sums[j], load_count(from, count));
    }
  }
  for (; p < column.pixels; ++p, from += column.step) {
    sums[0] = add(sums[0], load_count(from, count));
  }
  return hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
}

// Moments of `count` channels, at most a vector.
void narrow_moments(const Column& column, int64_t count, Vec part, float* means, float* squares) {
  const auto plain = [](Vec sum, Vec x) HWY_ATTR { return hn::Add(sum, x); };
  const Vec centre = hn::Mul(add_narrow(column, count, plain), part);
  const auto squared = [centre](Vec sum, Vec x) HWY_ATTR {
    const Vec difference = hn::Sub(x, centre);
    return hn::MulAdd(difference, difference, sum);
  };
  store_count(centre, means, count);
  store_count(add_narrow(column, count, squared), squares, count);
}

}  // namespace

void moments_form(const float* in, int64_t pixels, int64_t channels, float* means, float* squares) {
  const Vec part = hn::Set(kTag, 1.0f / static_cast<float>(pixels));
  int64_t c = 0;
  for (; c + kSums * kLanes <= channels; c += kSums * kLanes) {
    wide_moments({in + c, pixels, channels}, part, means + c, squares + c);
  }
  for (; c < channels; c += kLanes) {
    narrow_moments({in + c, pixels, channels}, std::min(kLanes, channels - c), part, means + c,
                   squares + c);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const float*, int64_t, int64_t, float*, float*);

}  // namespace

void channel_moments(const float* in, int64_t pixels, int64_t channels, float* means,
                     float* squares) {
  TAPER_CHOOSE(Form, moments_form)(in, pixels, channels, means, squares);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
