// Depthwise convolutions with large windows; depthwise.h explains the idea.

#include "kernels_optimized/cores/depthwise.h"

#include <algorithm>
#include <type_traits>

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

Row find_row(const WindowShape& s, const DepthwiseData& d, int64_t image, int64_t y) {
  const int64_t top = y * s.step_down - s.padding_top;
  const int64_t begin = std::clamp(-top, int64_t{0}, s.window_height);
  const int64_t first = image * s.height + top + begin;
  return {d.image + first * s.width * s.channels, begin,
          std::clamp(s.height - top, begin, s.window_height),
          d.out + (image * s.out_height + y) * s.out_width * s.channels};
}

// Adds to every result the products of kColumns columns of a row of the window with the pixels
// under them, of which the first is at `offset`. `is_inside` tells whether the image has the p-th.
template <int kColumns, int kStep, int kCount, typename Block, typename IsInside>
HWY_INLINE void add_columns(Block block, int64_t channels, const float* weights,
                            const float* pixels, int64_t offset, IsInside is_inside,
                            Vec (&sums)[kCount]) {
  constexpr int kPixels = (kCount - 1) * kStep + kColumns;
  static_assert(kPixels <= 32, "columns_inside() has a bit for each");
  Vec factors[kColumns];
  TAPER_UNROLL
  for (int j = 0; j < kColumns; ++j) factors[j] = block.read(weights + j * channels);
  TAPER_UNROLL
  for (int p = 0; p < kPixels; ++p, offset += channels) {
    if (!is_inside(p)) continue;
    const Vec pixel = block.read(pixels + offset);
    TAPER_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const int j = p - i * kStep;
      if (j >= 0 && j < kColumns) sums[i] = hn::MulAdd(pixel, factors[j], sums[i]);
    }
  }
}

// Adds all columns of a row of the window, kAtOnce of them at a time; `left` is the image column
// under the first of them.
constexpr int kAtOnce = 4;
template <int kStep, int kCount, typename Block>
HWY_INLINE void add_row(const WindowShape& s, Block block, const float* weights,
                        const float* pixels, int64_t left, Vec (&sums)[kCount]) {
  const int64_t channels = s.channels;
  const auto add = [&](auto columns, int64_t j) HWY_ATTR {
    const int64_t first = left + j;
    // As an unsigned number, a column left of the image is beyond its right end.
    const auto is_inside = [&](int p) HWY_ATTR {
      return static_cast<uint64_t>(first + p) < static_cast<uint64_t>(s.width);
    };
    add_columns<columns, kStep>(block, channels, weights + j * channels, pixels, first * channels,
                                is_inside, sums);
  };
  int64_t j = 0;
  for (; j + kAtOnce <= s.window_width; j += kAtOnce) {
    add(std::integral_constant<int, kAtOnce>{}, j);
  }
  for (; j < s.window_width; ++j) add(std::integral_constant<int, 1>{}, j);
}

// Bit p tells whether column left + p lies inside the image.
HWY_INLINE uint32_t columns_inside(const WindowShape& s, int64_t left) {
  const auto below = [](int64_t bits) {
    return (uint64_t{1} << std::clamp(bits, int64_t{0}, int64_t{32})) - 1;
  };
  return static_cast<uint32_t>(below(s.width - left) & ~below(-left));
}

// Adds all rows of a window that is kWidth wide.
template <int kWidth, int kStep, int kCount, typename Block>
HWY_INLINE void add_rows(const WindowShape& s, Block block, const float* weights,
                         const float* pixels, int64_t rows, int64_t left, Vec (&sums)[kCount]) {
  int64_t channels = s.channels;
  uint32_t inside = columns_inside(s, left);
  const auto is_inside = [&](int p) HWY_ATTR { return (inside >> p & 1) != 0; };
  for (int64_t k = 0; k < rows; ++k) {
    // As if they changed: the compiler would otherwise keep the offsets of all pixels, more than
    // fit in registers, and a copy of the loop for each edge of the image.
    asm("" : "+r"(channels), "+r"(inside));
    add_columns<kWidth, kStep>(block, channels, weights, pixels, left * channels, is_inside, sums);
    weights += kWidth * s.channels;
    pixels += s.width * s.channels;
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
  if constexpr (kWidth > 0) {
    add_rows<kWidth, kStep>(s, block, weights, pixels, row.end - row.begin, left, sums);
  } else {
    for (int64_t k = row.begin; k < row.end; ++k) {
      add_row<kStep>(s, block, weights, pixels, left, sums);
      weights += s.window_width * s.channels;
      pixels += s.width * s.channels;
    }
  }
  // All of them before any is written, after which d and s would be read anew.
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i) sums[i] = finished(d, sums[i]);
  const int64_t channels = s.channels;
  float* out = row.out + x * channels + block.channel;
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i) block.write(sums[i], out + i * channels);
}

// Computes a row in strips of kCount results. The last strip may overlap the one before it.
template <int kWidth, int kStep, int kCount, typename Block>
void run_strips(const WindowShape& s, const DepthwiseData& d, Block block, const Row& row) {
  for (int64_t x = 0; x < s.out_width; x += kCount) {
    run_strip<kWidth, kStep, kCount>(s, d, block, row, std::min(x, s.out_width - kCount));
  }
}

template <int kWidth, int kStep, typename Block>
void run_row(const WindowShape& s, const DepthwiseData& d, Block block, const Row& row) {
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
    int64_t image = part.first_row / s.out_height, y = part.first_row % s.out_height;
    for (int64_t i = 0; i < part.rows; ++i) {
      const Row row = find_row(s, d, image, y);
      if (count == kLanes) {
        run_row<kWidth, kStep>(s, d, Block<true>{channel, count}, row);
      } else {
        run_row<kWidth, kStep>(s, d, Block<false>{channel, count}, row);
      }
      if (++y == s.out_height) y = 0, ++image;
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
