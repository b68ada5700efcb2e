// Depthwise convolutions with large windows; depthwise.h explains the idea.

#include "kernels_optimized/cores/depthwise.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/depthwise.cpp"
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

// The number of results computed at once: their sums, a row of weights and a pixel fit in
// registers.
constexpr int64_t kStrip = HWY_ARCH_X86 && kLanes < 16 ? 4 : 8;
// The same for narrower images. Two strips of 4 are a row of 7, which is common.
constexpr int64_t kNarrowStrip = HWY_ARCH_X86 ? 3 : 4;

// A vector of channels from `channel` on, or, unless kWhole, the last few channels.
template <bool kWhole>
struct Block {
  int64_t channel;
  int64_t count;

  HWY_INLINE Vec read(const float* from) const {
    return kWhole ? hn::LoadU(kTag, from) : load_some(from, count);
  }
  HWY_INLINE void write(Vec value, float* to) const {
    kWhole ? hn::StoreU(value, kTag, to) : store_some(value, to, count);
  }
};

HWY_INLINE Vec finished(const DepthwiseData& d, Vec sum) {
  if (d.is_swish) return swish_of(sum);
  return at_most(at_least(sum, constant(d.min)), constant(d.max));
}

// The input of a row of results: rows [begin, end) of the window lie inside the image, the first of
// them at `rows`.
struct Row {
  const float* rows;
  int64_t begin, end;
  float* out;
};

Row find_row(const WindowShape& s, const DepthwiseData& d, int64_t row) {
  const int64_t top = row % s.out_height * s.step_down - s.padding_top;
  const int64_t begin = std::clamp(-top, int64_t{0}, s.window_height);
  const int64_t first = row / s.out_height * s.height + top + begin;
  return {d.image + first * s.width * s.channels, begin,
          std::clamp(s.height - top, begin, s.window_height),
          d.out + row * s.out_width * s.channels};
}

// Adds to every result the products of kColumns columns of a row of the window with the pixels
// under them; `left` is the image column under the first of them.
template <int kColumns, int kStep, int kCount, typename Block>
HWY_INLINE void add_columns(const WindowShape& s, Block block, const float* weights,
                            const float* pixels, int64_t left, Vec (&sums)[kCount]) {
  constexpr int kPixels = (kCount - 1) * kStep + kColumns;
  Vec factors[kColumns];
  TAPER_UNROLL
  for (int j = 0; j < kColumns; ++j) factors[j] = block.read(weights + j * s.channels);
  int64_t offset = left * s.channels;  // Advanced, because a product for each pixel takes longer.
  TAPER_UNROLL
  for (int p = 0; p < kPixels; ++p, offset += s.channels) {
    // As an unsigned number, a column left of the image is beyond its right end.
    if (static_cast<uint64_t>(left + p) >= static_cast<uint64_t>(s.width)) continue;
    const Vec pixel = block.read(pixels + offset);
    TAPER_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const int j = p - i * kStep;
      if (j >= 0 && j < kColumns) sums[i] = hn::MulAdd(pixel, factors[j], sums[i]);
    }
  }
}

// Adds all columns of a row of the window, kAtOnce of them at a time.
constexpr int kAtOnce = 4;
template <int kStep, int kCount, typename Block>
HWY_INLINE void add_row(const WindowShape& s, Block block, const float* weights,
                        const float* pixels, int64_t left, Vec (&sums)[kCount]) {
  int64_t j = 0;
  for (; j + kAtOnce <= s.window_width; j += kAtOnce) {
    add_columns<kAtOnce, kStep>(s, block, weights + j * s.channels, pixels, left + j, sums);
  }
  for (; j < s.window_width; ++j) {
    add_columns<1, kStep>(s, block, weights + j * s.channels, pixels, left + j, sums);
  }
}

// Computes kCount results of a row, from column x on. kWidth is the width of the window; 0 means
// any.
template <int kWidth, int kStep, int kCount, typename Block>
HWY_INLINE void run_strip(const WindowShape& s, const DepthwiseData& d, Block block, const Row& row,
                          int64_t x) {
  const Vec bias = d.bias != nullptr ? block.read(d.bias + block.channel) : hn::Zero(kTag);
  Vec sums[kCount];
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i) sums[i] = bias;
  const int64_t left = x * kStep - s.padding_left;
  const float* weights = d.filter + row.begin * s.window_width * s.channels + block.channel;
  const float* pixels = row.rows + block.channel;
  for (int64_t k = row.begin; k < row.end; ++k) {
    if constexpr (kWidth > 0) {
      add_columns<kWidth, kStep>(s, block, weights, pixels, left, sums);
    } else {
      add_row<kStep>(s, block, weights, pixels, left, sums);
    }
    weights += s.window_width * s.channels;
    pixels += s.width * s.channels;
  }
  float* out = row.out + block.channel;
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i) block.write(finished(d, sums[i]), out + (x + i) * s.channels);
}

// Computes a row in strips of kCount results. The last strip may overlap the one before it.
template <int kWidth, int kStep, int kCount, typename Block>
void run_strips(const WindowShape& s, const DepthwiseData& d, Block block, const Row& row) {
  for (int64_t x = 0; x < s.out_width; x += kCount) {
    run_strip<kWidth, kStep, kCount>(s, d, block, row, std::min(x, s.out_width - kCount));
  }
}

template <int kWidth, int kStep, typename Block>
void run_row(const WindowShape& s, const DepthwiseData& d, Block block, int64_t index) {
  const Row row = find_row(s, d, index);
  if (s.out_width >= kStrip) return run_strips<kWidth, kStep, kStrip>(s, d, block, row);
  if (s.out_width >= kNarrowStrip) {
    return run_strips<kWidth, kStep, kNarrowStrip>(s, d, block, row);
  }
  run_strips<kWidth, kStep, 1>(s, d, block, row);
}

template <int kWidth, int kStep>
void run_part(const WindowShape& s, const DepthwiseData& d, const DepthwisePart& part) {
  const int64_t end = part.first_channel + part.channels;
  for (int64_t channel = part.first_channel; channel < end; channel += kLanes) {
    const int64_t count = std::min(kLanes, end - channel);
    for (int64_t row = part.first_row; row < part.first_row + part.rows; ++row) {
      if (count == kLanes) {
        run_row<kWidth, kStep>(s, d, Block<true>{channel, count}, row);
      } else {
        run_row<kWidth, kStep>(s, d, Block<false>{channel, count}, row);
      }
    }
  }
}

}  // namespace

void depthwise_form(const WindowShape& s, const DepthwiseData& d, const DepthwisePart& part) {
  const bool is_every = s.step_across == 1;
  switch (s.window_width) {
    case 5:
      return is_every ? run_part<5, 1>(s, d, part) : run_part<5, 2>(s, d, part);
    case 7:
      return is_every ? run_part<7, 1>(s, d, part) : run_part<7, 2>(s, d, part);
    default:
      return is_every ? run_part<0, 1>(s, d, part) : run_part<0, 2>(s, d, part);
  }
}

int64_t lanes_form() { return kLanes; }

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const WindowShape&, const DepthwiseData&, const DepthwisePart&);
using Lanes = int64_t (*)();

}  // namespace

bool has_depthwise(int64_t window_height, int64_t window_width, int64_t step) {
  const bool is_worth_it = window_height * window_width > 9 && (step == 1 || step == 2);
  return is_worth_it && TAPER_CHOOSE(Form, depthwise_form) != nullptr;
}

int64_t depthwise_channels() { return TAPER_CHOOSE(Lanes, lanes_form)(); }

void depthwise(const WindowShape& shape, const DepthwiseData& data, const DepthwisePart& part) {
  TAPER_CHOOSE(Form, depthwise_form)(shape, data, part);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
