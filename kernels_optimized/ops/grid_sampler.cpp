// grid_sampler_2d of contiguous float images, bilinear or nearest, with any padding. Where the
// points of a block of output pixels lie is computed once for all channels.

#include <algorithm>
#include <cmath>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/dims.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/grid_sampler.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vectors.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_GRID_SAMPLER
#define TAPER_GRID_SAMPLER
namespace taper::optimized {
namespace {

constexpr int64_t kSampled = 256;  // How many output pixels are computed at a time.

// What is outside of an image, as the operator numbers it.
enum class Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

struct Sampling {
  int64_t channels, height, width;
  int64_t pixels;  // Of an output plane.
  bool nearest, align_corners;
  Padding padding;
};

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

const hn::RebindToSigned<Tag> kInts;

float reflect_one(float x, float low, float high) {
  const float distance = std::fabs(x - low), rest = std::fmod(distance, high - low);
  const bool is_odd = std::fmod(std::floor(distance / (high - low)), 2.0F) != 0;
  return is_odd ? high - rest : low + rest;
}

// The coordinate is reflected at `low` and `high` until it lies between them, nearly.
HWY_INLINE Vec reflect(Vec x, float low, float high) {
  if (high <= low) return hn::Zero(kTag);
  const Vec span = hn::Set(kTag, high - low), bottom = hn::Set(kTag, low);
  const Vec distance = hn::Abs(hn::Sub(x, bottom)), flips = hn::Floor(hn::Div(distance, span));
  if (!hn::AllTrue(kTag, hn::Lt(flips, hn::Set(kTag, 1024)))) {  // Or NaN: digits would be lost.
    HWY_ALIGN float lanes[kLanes];
    hn::Store(x, kTag, lanes);
    for (float& lane : lanes) lane = reflect_one(lane, low, high);
    return hn::Load(kTag, lanes);
  }
  const Vec rest = hn::NegMulAdd(flips, span, distance);
  const Vec half = hn::Mul(flips, hn::Set(kTag, 0.5F));
  const auto is_even = hn::Eq(hn::Floor(half), half);
  return hn::IfThenElse(is_even, hn::Add(bottom, rest), hn::Sub(hn::Set(kTag, high), rest));
}

// The coordinate of a point in an image that has `size` pixels in this direction.
HWY_INLINE Vec place(const Sampling& s, Vec g, int64_t size) {
  const Vec zero = hn::Zero(kTag), one = hn::Set(kTag, 1), half = hn::Set(kTag, 0.5F);
  const Vec extent = hn::Set(kTag, static_cast<float>(size)), last = hn::Sub(extent, one);
  const Vec from_edge = hn::Add(g, one);
  Vec x = s.align_corners ? hn::Mul(hn::Mul(from_edge, half), last)
                          : hn::Mul(hn::Sub(hn::Mul(from_edge, extent), one), half);
  if (s.padding == Padding::kZeros) return x;
  if (s.padding == Padding::kReflection) {
    const auto pixels = static_cast<float>(size);
    x = s.align_corners ? reflect(x, 0, pixels - 1) : reflect(x, -0.5F, pixels - 0.5F);
  }
  const Vec inside = hn::IfThenElse(hn::Lt(x, last), x, last);
  return hn::IfThenElse(hn::Gt(x, zero), inside, zero);  // NaN becomes 0.
}

// The pixels that contribute to a block of output pixels: offsets in a plane, negative outside of
// it, and weights.
template <int kTaps>
struct Taps {
  HWY_ALIGN int32_t offsets[kTaps * kSampled];
  HWY_ALIGN float weights[kTaps * kSampled];

  HWY_INLINE void set(const Sampling& s, int tap, int64_t at, Vec x, Vec y, Vec weight) {
    const Vec zero = hn::Zero(kTag);
    const auto is_inside = [&](Vec v, int64_t size) HWY_ATTR {
      return hn::And(hn::Ge(v, zero), hn::Lt(v, hn::Set(kTag, static_cast<float>(size))));
    };
    const auto inside = hn::And(is_inside(x, s.width), is_inside(y, s.height));
    const auto column = hn::ConvertTo(kInts, hn::IfThenElseZero(inside, x));
    const auto row = hn::ConvertTo(kInts, hn::IfThenElseZero(inside, y));
    const auto width = hn::Set(kInts, static_cast<int32_t>(s.width));
    const auto offset = hn::IfThenElse(hn::RebindMask(kInts, inside),
                                       hn::Add(hn::Mul(row, width), column), hn::Set(kInts, -1));
    hn::Store(offset, kInts, offsets + tap * kSampled + at);
    hn::Store(weight, kTag, weights + tap * kSampled + at);
  }

  void set_all(const Sampling& s, const float* points, int64_t count) {
    for (int64_t i = 0; i < count; i += kLanes) {
      HWY_ALIGN float some[2 * kLanes] = {};
      const float* from = points + 2 * i;
      if (i + kLanes > count) from = std::copy(from, points + 2 * count, some), from = some;
      Vec x, y;
      hn::LoadInterleaved2(kTag, from, x, y);
      x = place(s, x, s.width);
      y = place(s, y, s.height);
      const Vec one = hn::Set(kTag, 1);
      if constexpr (kTaps == 1) {
        set(s, 0, i, hn::Round(x), hn::Round(y), one);
      } else {
        const Vec left = hn::Floor(x), top = hn::Floor(y);
        const Vec right = hn::Add(left, one), bottom = hn::Add(top, one);
        const Vec to_left = hn::Sub(right, x), to_right = hn::Sub(x, left);
        const Vec to_top = hn::Sub(bottom, y), to_bottom = hn::Sub(y, top);
        set(s, 0, i, left, top, hn::Mul(to_top, to_left));
        set(s, 1, i, right, top, hn::Mul(to_top, to_right));
        set(s, 2, i, left, bottom, hn::Mul(to_bottom, to_left));
        set(s, 3, i, right, bottom, hn::Mul(to_bottom, to_right));
      }
    }
  }

  HWY_INLINE Vec sum(const float* plane, int64_t at) const {
    Vec sum = hn::Zero(kTag);
    TAPER_UNROLL
    for (int tap = 0; tap < kTaps; ++tap) {
      const auto offset = hn::Load(kInts, offsets + tap * kSampled + at);
      const auto outside = hn::RebindMask(kTag, hn::Lt(offset, hn::Zero(kInts)));
      const Vec value = hn::GatherIndex(kTag, plane, hn::Max(offset, hn::Zero(kInts)));
      const Vec weight = hn::Load(kTag, weights + tap * kSampled + at);
      sum = hn::Add(sum, hn::Mul(weight, hn::IfThenZeroElse(outside, value)));
    }
    return sum;
  }
};

template <int kTaps>
void sample_block(const Sampling& s, const float* image, const float* points, int64_t count,
                  float* out) {
  Taps<kTaps> taps;
  taps.set_all(s, points, count);
  for (int64_t c = 0; c < s.channels; ++c, image += s.height * s.width, out += s.pixels) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) hn::StoreU(taps.sum(image, i), kTag, out + i);
    if (i < count) store_some(taps.sum(image, i), out + i, count - i);
  }
}

}  // namespace

// Computes `count` pixels of all channels of an image.
void sample_form(const Sampling& s, const float* image, const float* points, int64_t count,
                 float* out) {
  if (s.nearest) return sample_block<1>(s, image, points, count, out);
  sample_block<4>(s, image, points, count, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const Sampling&, const float*, const float*, int64_t, float*);

bool fast_grid_sampler(KernelContext& context, const Tensor& input, const Tensor& grid,
                       int64_t interpolation, int64_t padding, bool align_corners, Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, sample_form);
  if (form == nullptr || !are_float(input, grid, out) || input.dim() != 4 || grid.dim() != 4 ||
      grid.size(3) != 2 || grid.size(0) != input.size(0) || (interpolation | 1) != 1 ||
      padding < 0 || padding > 2 || !input.is_contiguous() || !grid.is_contiguous() ||
      !out.is_contiguous()) {
    return false;
  }
  const Sampling s = {input.size(1),
                      input.size(2),
                      input.size(3),
                      grid.size(1) * grid.size(2),
                      interpolation == 1,
                      align_corners,
                      static_cast<Padding>(padding)};
  // Coordinates are exact as floats, and offsets fit int32.
  constexpr int64_t kMost = int64_t{1} << 24;
  portable::Sizes sizes;
  for (const int64_t size : {input.size(0), s.channels, grid.size(1), grid.size(2)}) {
    sizes.push(size);
  }
  if (s.height < 1 || s.width < 1 || s.height > kMost || s.width > kMost ||
      s.height * s.width > INT32_MAX || !out.resize(sizes).ok()) {
    return false;
  }
  const float *images = input.const_data_ptr<float>(), *points = grid.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  const int64_t blocks = (s.pixels + kSampled - 1) / kSampled;
  const auto sample = [&](int64_t block) {
    const int64_t n = block / blocks, first = block % blocks * kSampled;
    form(s, images + n * s.channels * s.height * s.width, points + 2 * (n * s.pixels + first),
         std::min(kSampled, s.pixels - first), to + n * s.channels * s.pixels + first);
  };
  const int64_t work = std::max<int64_t>(1, kSampled * s.channels * (s.nearest ? 2 : 6));
  for_parts(context.pool(), input.size(0) * blocks, work, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) sample(block);
  });
  return true;
}

}  // namespace

extern const Kernel kGridSampler2dOut;
const Kernel kGridSampler2dOut =
    overlay<fast_grid_sampler, portable::kGridSampler2dOut>("aten::grid_sampler_2d.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
