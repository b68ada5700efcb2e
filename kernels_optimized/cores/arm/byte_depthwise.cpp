// Eight channels at a time: the pixels of a column of the window are interleaved, so that those of
// a channel are adjacent, as the instruction needs them. A column is interleaved once and serves
// all windows that it lies in.

#include "kernels_optimized/cores/bytes/byte_depthwise.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include <algorithm>
#include <cstring>

#include "kernels_optimized/engine/arm_features.h"

#if defined(__clang__)
#define TAPER_SDOT __attribute__((target("dotprod")))
#else
#define TAPER_SDOT __attribute__((target("arch=armv8.2-a+dotprod")))
#endif
#define TAPER_SDOT_INLINE TAPER_SDOT __attribute__((always_inline)) inline

namespace taper::optimized {
namespace {

constexpr int64_t kChannels = 8;
// Shorter rows are mostly edges, whose columns are not shared.
constexpr int64_t kFewColumns = 8;
constexpr int kLanes = 4, kHalves = 2;  // Sums of a vector, and vectors for the channels.
constexpr int kTaps = 4;                // Bytes that an instruction multiplies for each sum.

// An integer below 2^22 added to these bits, read as a float, is that integer added to kMagic. A
// float below 2^22 to which kMagic is added is rounded, and its lower bits are the integer.
constexpr float kMagic = 12582912;
constexpr int32_t kMagicBits = 0x4B400000;
constexpr double kMostSum = (1 << 22) - 1;
constexpr double kMostResult = INT16_MAX - 128;  // Of which 16 bits are kept.

template <int kSide>
struct Packed {
  static constexpr int kGroups = (kSide + kTaps - 1) / kTaps;  // Instructions for a column.

  int8_t weights[kSide][kGroups][kHalves][kLanes][kTaps];
  int32_t bias[kChannels];
  float scales[kChannels];
};

int64_t block_count(const WindowShape& s) { return (s.channels + kChannels - 1) / kChannels; }

// The last block begins earlier if there are not enough channels, and computes some of them twice.
int64_t first_channel(const WindowShape& s, int64_t block) {
  return std::min(block * kChannels, s.channels - kChannels);
}

// What a channel adds to its sums: the bias, and what the zero point of the image takes away. In
// `most`, the largest size that a sum can have.
int64_t whole_bias(const WindowShape& s, const ByteFilter& f, int64_t channel, int64_t& most) {
  int64_t sum = 0, size = 0;
  for (int64_t k = 0; k < s.window_height * s.window_width; ++k) {
    const int64_t weight = f.weights[k * s.channels + channel];
    sum += weight;
    size += std::abs(weight);
  }
  const int64_t bias = (f.bias != nullptr ? f.bias[channel] : 0) - f.zero_in * sum;
  most = std::abs(bias) + 128 * size;
  return bias;
}

template <int kSide>
void pack(const WindowShape& s, const ByteFilter& f, Packed<kSide>* to) {
  std::memset(to, 0, static_cast<size_t>(block_count(s)) * sizeof(*to));
  for (int64_t b = 0; b < block_count(s); ++b) {
    for (int64_t i = 0; i < kChannels; ++i) {
      const int64_t c = first_channel(s, b) + i;
      for (int64_t k = 0; k < kSide * kSide; ++k) {
        const int64_t row = k / kSide, column = k % kSide;
        to[b].weights[column][row / kTaps][i / kLanes][i % kLanes][row % kTaps] =
            f.weights[k * s.channels + c];
      }
      int64_t most;
      to[b].bias[i] = static_cast<int32_t>(whole_bias(s, f, c, most)) + kMagicBits;
      to[b].scales[i] = f.scales[c];
    }
  }
}

// Adds to each sum the products of its four pixels. Assembly, since compilers have its intrinsics
// only for files that are compiled for such processors.
TAPER_SDOT_INLINE void add_products(int32x4_t& sum, int8x16_t pixels, int8x16_t weights) {
  asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(pixels), "w"(weights));
}

// Compilers would keep it in a register and copy it, which takes the unit that multiplies.
template <typename Vector>
TAPER_SDOT_INLINE Vector loaded(const void* from) {
  Vector vector;
  asm volatile("ldr %q0, %1" : "=w"(vector) : "m"(*static_cast<const Vector*>(from)));
  return vector;
}

// Eight bytes, in a vector whose other half is not used.
TAPER_SDOT_INLINE int8x16_t half_vector(const int8_t* from) {
  struct Bytes {
    int8_t values[kChannels];
  };
  int8x16_t vector;
  asm("ldr %d0, %1" : "=w"(vector) : "m"(*reinterpret_cast<const Bytes*>(from)));
  return vector;
}

// The pixels of a column of the window.
template <int kSide>
struct Column {
  static constexpr int kGroups = Packed<kSide>::kGroups;
  int8x16_t groups[kGroups][kHalves];
};

// Interleaves four rows of eight channels.
TAPER_SDOT_INLINE void interleave(int8x16_t a, int8x16_t b, int8x16_t c, int8x16_t d,
                                  int8x16_t (&to)[kHalves]) {
  const int16x8_t upper = vreinterpretq_s16_s8(vzip1q_s8(a, b));
  const int16x8_t lower = vreinterpretq_s16_s8(vzip1q_s8(c, d));
  to[0] = vreinterpretq_s8_s16(vzip1q_s16(upper, lower));
  to[1] = vreinterpretq_s8_s16(vzip2q_s16(upper, lower));
}

// The rows of an image that a row of results reads, from the first channel of a block on. Rows
// outside are padding, whatever the column.
template <int kSide>
struct Rows {
  const int8_t* begin[kSide];
  int64_t step[kSide];
  int64_t width;
  const int8_t* padding;

  TAPER_SDOT_INLINE static Column<kSide> interleaved(const int8x16_t (&pixels)[kSide]) {
    Column<kSide> column;
    // What has no row is multiplied by 0.
    if constexpr (kSide == 3) {
      interleave(pixels[0], pixels[1], pixels[2], pixels[2], column.groups[0]);
    } else {
      interleave(pixels[0], pixels[1], pixels[2], pixels[3], column.groups[0]);
      interleave(pixels[4], pixels[4], pixels[4], pixels[4], column.groups[1]);
    }
    return column;
  }

  TAPER_SDOT_INLINE Column<kSide> inside(int64_t x) const {
    int8x16_t pixels[kSide];
#pragma GCC unroll 5
    for (int i = 0; i < kSide; ++i) pixels[i] = half_vector(begin[i] + x * step[i]);
    return interleaved(pixels);
  }

  // The same, if the column may lie outside.
  TAPER_SDOT_INLINE Column<kSide> any(int64_t x) const {
    const bool is_inside = x >= 0 && x < width;
    int8x16_t pixels[kSide];
#pragma GCC unroll 5
    for (int i = 0; i < kSide; ++i) {
      pixels[i] = half_vector(is_inside ? begin[i] + x * step[i] : padding);
    }
    return interleaved(pixels);
  }
};

// How sums become results.
struct Rounding {
  float32x4_t scales[kHalves];
  int16x8_t zero;
  int8x16_t min, max;

  // A sum that begins with kMagicBits, rounded, in the lower half of each lane.
  TAPER_SDOT_INLINE static int16x8_t rounded(int32x4_t sum, float32x4_t scale) {
    const float32x4_t magic = vdupq_n_f32(kMagic);
    float32x4_t scaled = vmulq_f32(vsubq_f32(vreinterpretq_f32_s32(sum), magic), scale);
    asm("" : "+w"(scaled));  // Rounded by itself: compilers would join it with the addition.
    return vreinterpretq_s16_f32(vaddq_f32(scaled, magic));
  }

  TAPER_SDOT_INLINE int16x8_t integers(int32x4_t lower, int32x4_t upper) const {
    return vqaddq_s16(vuzp1q_s16(rounded(lower, scales[0]), rounded(upper, scales[1])), zero);
  }

  // Two results.
  TAPER_SDOT_INLINE int8x16_t bytes(int16x8_t first, int16x8_t second) const {
    const int8x16_t both = vqmovn_high_s16(vqmovn_s16(first), second);
    return vminq_s8(vmaxq_s8(both, min), max);
  }
};

template <int kSide>
struct Weights {
  static constexpr int kGroups = Packed<kSide>::kGroups;
  int8x16_t values[kSide][kGroups][kHalves];

  TAPER_SDOT_INLINE explicit Weights(const Packed<kSide>& filter) {
#pragma GCC unroll 5
    for (int j = 0; j < kSide; ++j) {
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 2
        for (int h = 0; h < kHalves; ++h) {
          values[j][g][h] = vld1q_s8(&filter.weights[j][g][h][0][0]);
        }
      }
    }
  }

  template <int kHalf>
  TAPER_SDOT_INLINE int32x4_t sum(const Column<kSide>* columns, const Packed<kSide>& filter) const {
    int32x4_t sum = loaded<int32x4_t>(filter.bias + kHalf * kLanes);
#pragma GCC unroll 5
    for (int j = 0; j < kSide; ++j) {
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) {
        add_products(sum, columns[j].groups[g][kHalf], values[j][g][kHalf]);
      }
    }
    return sum;
  }

  TAPER_SDOT_INLINE int16x8_t window(const Column<kSide>* columns, const Packed<kSide>& filter,
                                     const Rounding& rounding) const {
    return rounding.integers(sum<0>(columns, filter), sum<1>(columns, filter));
  }
};

// How many results are computed at once, whose windows share columns.
template <int kSide, int kStep>
constexpr int kStrip = kSide == 3 && kStep == 1 ? 4 : 2;

// The results of a block of channels.
template <int kSide, int kStep>
struct Block {
  static constexpr int kKept = kSide - kStep;  // Columns that the next window reads, too.

  const Packed<kSide>& filter;
  const Weights<kSide> weights;
  const Rounding rounding;
  int64_t out_step;

  // kCount results from `out` on, of whose windows `columns` has all columns.
  template <int kCount>
  TAPER_SDOT_INLINE void store(const Column<kSide>* columns, int8_t* out) const {
#pragma GCC unroll 2
    for (int i = 0; i < kCount; i += 2, out += 2 * out_step) {
      const int16x8_t first = weights.window(columns + i * kStep, filter, rounding);
      if constexpr (kCount == 1) {
        vst1_s8(out, vget_low_s8(rounding.bytes(first, first)));
      } else {
        const int16x8_t second = weights.window(columns + (i + 1) * kStep, filter, rounding);
        const int64x2_t both = vreinterpretq_s64_s8(rounding.bytes(first, second));
        vst1q_lane_s64(reinterpret_cast<int64_t*>(out), both, 0);
        vst1q_lane_s64(reinterpret_cast<int64_t*>(out + out_step), both, 1);
      }
    }
  }

  // kCount results, whose windows begin at column `left` and may lie outside in part.
  template <int kCount>
  TAPER_SDOT_INLINE void run_any(const Rows<kSide>& rows, int64_t left, int8_t* out) const {
    constexpr int kColumns = kKept + kCount * kStep;
    Column<kSide> columns[kColumns];
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) columns[j] = rows.any(left + j);
    store<kCount>(columns, out);
  }

  // A row of results. Those whose windows lie inside but for columns that the first one keeps are
  // computed in strips, and the last of all in a strip that may overlap others.
  TAPER_SDOT_INLINE void run_row(const Rows<kSide>& rows, const WindowShape& s, int8_t* out) const {
    constexpr int kCount = kStrip<kSide, kStep>, kColumns = kCount * kStep;
    int64_t x = 0, left = -s.padding_left;
    for (; x < s.out_width && left + kKept < 0; ++x, left += kStep) {
      run_any<1>(rows, left, out + x * out_step);
    }
    Column<kSide> columns[kKept + kColumns];
#pragma GCC unroll 5
    for (int j = 0; j < kKept; ++j) columns[j] = rows.any(left + j);
    const int64_t end = s.out_width - kCount, last = s.width - kKept - kColumns;
    for (; x <= end && left <= last; x += kCount, left += kColumns) {
#pragma GCC unroll 8
      for (int j = kKept; j < kKept + kColumns; ++j) columns[j] = rows.inside(left + j);
      store<kCount>(columns, out + x * out_step);
#pragma GCC unroll 5
      for (int j = 0; j < kKept; ++j) columns[j] = columns[j + kColumns];
    }
    for (; x < s.out_width; x += kCount) {
      if (end < 0) {
        for (; x < s.out_width; ++x) run_any<1>(rows, left_of(s, x), out + x * out_step);
        return;
      }
      const int64_t first = std::min(x, end);
      run_any<kCount>(rows, left_of(s, first), out + first * out_step);
    }
  }

  static int64_t left_of(const WindowShape& s, int64_t x) { return x * kStep - s.padding_left; }
};

// Rows [first, first + count) of the results of block `b`.
template <int kSide, int kStep>
TAPER_SDOT void run_block(const WindowShape& shape, const ByteDepthwise& d, int64_t b,
                          int64_t first, int64_t count) {
  const WindowShape s = shape;
  const auto& filter = static_cast<const Packed<kSide>*>(d.filter)[b];
  const int64_t channel = first_channel(s, b);
  const Block<kSide, kStep> block = {filter,
                                     Weights<kSide>(filter),
                                     {{vld1q_f32(filter.scales), vld1q_f32(filter.scales + kLanes)},
                                      vdupq_n_s16(d.zero_out),
                                      vdupq_n_s8(d.min),
                                      vdupq_n_s8(d.max)},
                                     s.channels};
  int8_t padding[kChannels];
  std::fill_n(padding, kChannels, d.zero_in);
  Rows<kSide> rows;
  rows.width = s.width;
  rows.padding = padding;
  for (int64_t r = first; r < first + count; ++r) {
    const int8_t* image = d.image + r / s.out_height * s.height * s.width * s.channels + channel;
    const int64_t top = r % s.out_height * kStep - s.padding_top;
#pragma GCC unroll 5
    for (int i = 0; i < kSide; ++i) {
      const bool is_inside = top + i >= 0 && top + i < s.height;
      rows.begin[i] = is_inside ? image + (top + i) * s.width * s.channels : padding;
      rows.step[i] = is_inside ? s.channels : 0;
    }
    block.run_row(rows, s, d.out + r * s.out_width * s.channels + channel);
  }
}

template <int kSide, int kStep>
void run_rows(const WindowShape& s, const ByteDepthwise& d, int64_t first, int64_t count) {
  for (int64_t b = 0; b < block_count(s); ++b) run_block<kSide, kStep>(s, d, b, first, count);
}

}  // namespace

bool has_byte_depthwise(const WindowShape& s) {
  const bool has_side = s.window_height == 3 || s.window_height == 5;
  const bool has_step = s.step_across == 1 || s.step_across == 2;
  return has_sdot() && has_side && s.window_width == s.window_height && has_step &&
         s.step_down == s.step_across && s.dilation_down == 1 && s.dilation_across == 1 &&
         s.channels >= kChannels;
}

bool is_byte_depthwise_faster(const WindowShape& s) { return s.out_width >= kFewColumns; }

int64_t byte_depthwise_size(const WindowShape& s) {
  const size_t block = s.window_width == 3 ? sizeof(Packed<3>) : sizeof(Packed<5>);
  return block_count(s) * static_cast<int64_t>(block);
}

bool has_exact_sums(const WindowShape& s, const ByteFilter& filter) {
  for (int64_t c = 0; c < s.channels; ++c) {
    int64_t most;
    whole_bias(s, filter, c, most);
    const auto size = static_cast<double>(most), scale = static_cast<double>(filter.scales[c]);
    if (!(size <= kMostSum && size * scale <= kMostResult)) return false;
  }
  return true;
}

void pack_byte_depthwise(const WindowShape& s, const ByteFilter& filter, void* to) {
  if (s.window_width == 3) return pack(s, filter, static_cast<Packed<3>*>(to));
  pack(s, filter, static_cast<Packed<5>*>(to));
}

void byte_depthwise(const WindowShape& s, const ByteDepthwise& data, int64_t row, int64_t rows) {
  const bool is_every = s.step_across == 1;
  if (s.window_width == 3) {
    return is_every ? run_rows<3, 1>(s, data, row, rows) : run_rows<3, 2>(s, data, row, rows);
  }
  return is_every ? run_rows<5, 1>(s, data, row, rows) : run_rows<5, 2>(s, data, row, rows);
}

}  // namespace taper::optimized

#endif
