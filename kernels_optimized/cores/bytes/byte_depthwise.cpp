// Blocks of up to 64 channels of a row of results at a time, on x86-64. An instruction adds up the
// products of adjacent numbers: of four bytes with AVX-512 VNNI, of two 16-bit integers without. So
// the pixels of a column of the window are interleaved, as many rows at a time. The columns of a
// piece of a row are interleaved once, into a buffer that stays in the first cache. They serve all
// windows that they lie in, and those of the next row of results, too, if these read no more groups
// of rows. cores/arm/byte_depthwise.cpp does the same on 64-bit ARM.
//
// Interleaving works within the sixteen bytes of a block of channels, which gives four vectors of
// sums, "quarters": lane 4 * i + j of quarter q belongs to channel 16 * i + 4 * q + j. Weights,
// biases and scales are packed in this order, and what joins sums to bytes undoes it.

#include "kernels_optimized/cores/bytes/byte_depthwise.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/bytes/byte_depthwise.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vectors.h"
#include "kernels_optimized/engine/x86_features.h"
#include "kernels_optimized/engine/x86_intrinsics.h"

#if defined(__x86_64__)

#ifndef TAPER_BYTE_DEPTHWISE_ONCE
#define TAPER_BYTE_DEPTHWISE_ONCE
namespace taper::optimized {

constexpr int64_t kLeastBlock = 16;  // The channels of the smallest block.
constexpr int64_t kMostRows = 16;    // Of an image, for rows that are computed at once.
// Windows of so few taps have too little to do for what it costs to interleave a column.
constexpr int64_t kFewTaps = 9;
// The columns of a group of rows that the buffer has room for.
constexpr int64_t kMostColumns = 96;
constexpr int64_t kQuarters = 4;

// How a filter is packed for this processor.
struct BytePacking {
  int64_t most;  // The channels of the largest block.
  int64_t taps;  // The products that an instruction adds up.

  int64_t groups_of(int64_t rows) const { return (rows + taps - 1) / taps; }
  int64_t groups(const WindowShape& s) const { return groups_of(s.window_height); }
  // How many rows of results are computed from the same columns.
  int64_t rows_at_once(const WindowShape& s) const {
    return s.dilation_down == 1 && groups_of(s.window_height + s.step_down) == groups(s) ? 2 : 1;
  }
  // The groups of weights of a channel, for one of these rows.
  int64_t weights(const WindowShape& s) const { return s.window_width * groups(s); }
  // The bytes for each channel: the bias, the scale, and weights in groups of four bytes.
  int64_t channel_bytes(const WindowShape& s) const {
    return (2 + rows_at_once(s) * weights(s)) * static_cast<int64_t>(sizeof(int32_t));
  }
};

// Consecutive channels that are computed together.
struct ChannelBlock {
  int64_t first, count;
};

// The block for the channels from `channel` on: the smallest one that has them all, if there is
// one. It begins earlier if there are fewer, and computes some of them twice.
inline ChannelBlock block_at(const WindowShape& s, const BytePacking& packing, int64_t channel) {
  const int64_t left = s.channels - channel;
  int64_t count = packing.most;
  while (count > kLeastBlock && (count / 2 >= left || count > s.channels)) count /= 2;
  return {std::min(channel, s.channels - count), count};
}

// Calls visit(block, place) for all blocks; the packed filter of each begins at byte `place`.
// Returns the bytes of all.
template <typename Visit>
int64_t each_block(const WindowShape& s, const BytePacking& packing, const Visit& visit) {
  int64_t place = 0;
  for (int64_t channel = 0; channel < s.channels;) {
    const ChannelBlock block = block_at(s, packing, channel);
    visit(block, place);
    place += block.count * packing.channel_bytes(s);
    channel = block.first + block.count;
  }
  return place;
}

}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// The results whose sums are in registers at a time, for half of the quarters.
constexpr int64_t kTile = HWY_TARGET == HWY_AVX3 ? 8 : 4;
constexpr int64_t kMostTiles = 4;  // Of a piece of a row.

// The rows of an image that rows of results read, from the first channel of a block on. Rows and
// columns outside are padding.
struct ByteRows {
  const int8_t* begin[kMostRows];
  int64_t step[kMostRows];
  int64_t count, width;
  const int8_t* padding;
};

// Joins the sums of four quarters, as 16-bit integers, to the bytes of a block.
HWY_INLINE hn::Vec<hn::Full128<int8_t>> to_bytes(hn::Vec<hn::Full128<int16_t>> lower,
                                                 hn::Vec<hn::Full128<int16_t>> upper) {
  return {_mm_packs_epi16(lower.raw, upper.raw)};
}
HWY_INLINE hn::Vec<hn::Full256<int8_t>> to_bytes(hn::Vec<hn::Full256<int16_t>> lower,
                                                 hn::Vec<hn::Full256<int16_t>> upper) {
  return hn::Vec<hn::Full256<int8_t>>{_mm256_packs_epi16(lower.raw, upper.raw)};
}
#if HWY_TARGET == HWY_AVX3
HWY_INLINE hn::Vec<hn::Full512<int8_t>> to_bytes(hn::Vec<hn::Full512<int16_t>> lower,
                                                 hn::Vec<hn::Full512<int16_t>> upper) {
  return hn::Vec<hn::Full512<int8_t>>{_mm512_packs_epi16(lower.raw, upper.raw)};
}
#endif

// What is done with kChannels channels, whose bytes are a vector, if an instruction adds up kTaps
// products.
template <int64_t kChannels, int64_t kTaps>
struct ByteBlock {
  using Bytes = hn::FixedTag<int8_t, kChannels>;
  using Shorts = hn::FixedTag<int16_t, kChannels / 2>;
  using Ints = hn::FixedTag<int32_t, kChannels / 4>;
  using Reals = hn::FixedTag<float, kChannels / 4>;
  using Sum = hn::Vec<Ints>;

  // Adds to each sum the products of its taps. VNNI's instruction as assembly, since compilers have
  // its intrinsics only for code that is compiled for such processors.
  static HWY_INLINE Sum add_products(Sum sum, const int8_t* pixels, Sum weights) {
    const auto values = hn::LoadU(Bytes(), pixels);
    if constexpr (kTaps == 4) {
      asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(values.raw), "v"(weights.raw));
      return sum;
    } else {
      Sum unused = hn::Zero(Ints());
      return hn::ReorderWidenMulAccumulate(Ints(), hn::BitCast(Shorts(), values),
                                           hn::BitCast(Shorts(), weights), sum, unused);
    }
  }

  static HWY_INLINE void store_pairs(hn::Vec<Shorts> a, hn::Vec<Shorts> b, int8_t* to) {
    hn::StoreU(hn::BitCast(Bytes(), hn::InterleaveLower(Shorts(), a, b)), Bytes(), to);
    hn::StoreU(hn::BitCast(Bytes(), hn::InterleaveUpper(Shorts(), a, b)), Bytes(), to + kChannels);
  }

  // The lower or upper bytes of each sixteen as 16-bit integers.
  static HWY_INLINE hn::Vec<Shorts> lower(hn::Vec<Bytes> v) {
    return hn::ShiftRight<8>(
        hn::BitCast(Shorts(), hn::InterleaveLower(Bytes(), hn::Zero(Bytes()), v)));
  }
  static HWY_INLINE hn::Vec<Shorts> upper(hn::Vec<Bytes> v) {
    return hn::ShiftRight<8>(
        hn::BitCast(Shorts(), hn::InterleaveUpper(Bytes(), hn::Zero(Bytes()), v)));
  }

  // Interleaves kTaps pixels; `to` has room for the quarters. The instruction of bytes wants one
  // factor without a sign, so that these are 128 larger, for which the biases make up.
  static HWY_INLINE void interleave(const int8_t* const* from, int8_t* to) {
    const Bytes d;
    if constexpr (kTaps == 4) {
      const auto flip = hn::Set(d, int8_t{-128});
      const auto a = hn::Xor(hn::LoadU(d, from[0]), flip), b = hn::Xor(hn::LoadU(d, from[1]), flip);
      const auto c = hn::Xor(hn::LoadU(d, from[2]), flip), e = hn::Xor(hn::LoadU(d, from[3]), flip);
      store_pairs(hn::BitCast(Shorts(), hn::InterleaveLower(d, a, b)),
                  hn::BitCast(Shorts(), hn::InterleaveLower(d, c, e)), to);
      store_pairs(hn::BitCast(Shorts(), hn::InterleaveUpper(d, a, b)),
                  hn::BitCast(Shorts(), hn::InterleaveUpper(d, c, e)), to + 2 * kChannels);
    } else {
      const auto a = hn::LoadU(d, from[0]), b = hn::LoadU(d, from[1]);
      store_pairs(lower(a), lower(b), to);
      store_pairs(upper(a), upper(b), to + 2 * kChannels);
    }
  }

  // Interleaves columns [left, left + count). Taps without a row have weights of 0.
  static HWY_INLINE void fill(const ByteRows& rows, int64_t groups, int64_t left, int64_t count,
                              int8_t* to) {
    const int64_t first = std::clamp<int64_t>(-left, 0, count);
    const int64_t end = std::clamp<int64_t>(rows.width - left, first, count);
    constexpr int64_t kColumn = kQuarters * kChannels;
    for (int64_t row = 0; row < groups * kTaps; row += kTaps) {
      const int8_t *from[kTaps], *outside[kTaps];
      int64_t step[kTaps];
      TAPER_UNROLL
      for (int64_t i = 0; i < kTaps; ++i) {
        const int64_t y = std::min(row + i, rows.count - 1);
        step[i] = rows.step[y];
        from[i] = rows.begin[y] + (left + first) * step[i];
        outside[i] = rows.padding;
      }
      for (int64_t x = 0; x < first; ++x, to += kColumn) interleave(outside, to);
      for (int64_t x = first; x < end; ++x, to += kColumn) {
        interleave(from, to);
        TAPER_UNROLL
        for (int64_t i = 0; i < kTaps; ++i) from[i] += step[i];
      }
      for (int64_t x = end; x < count; ++x, to += kColumn) interleave(outside, to);
    }
  }
};

// What a tile of results is computed of. Columns are in the order of the weights: a group of rows
// after another, each with all columns.
struct BytePiece {
  const int8_t* last;     // The biases and scales of the block.
  const int8_t* weights;  // For one of the rows that are computed at once.
  const int8_t* columns;  // Interleaved, from the first one of the tile on.
  int64_t group_bytes;    // From a group to the next.
  int64_t groups;
};

// Computes kTile results of a block and stores `count` of them.
template <int64_t kChannels, int64_t kTaps, int64_t kStep>
HWY_INLINE void run_byte_tile(const WindowShape& s, const ByteDepthwise& d, const BytePiece& piece,
                              int64_t count, int8_t* out) {
  using Block = ByteBlock<kChannels, kTaps>;
  const typename Block::Bytes bytes;
  const typename Block::Ints ints;
  const typename Block::Reals reals;
  constexpr int64_t kColumn = kQuarters * kChannels;
  hn::Vec<typename Block::Shorts> halves[2][kTile];
  const auto most = hn::Set(reals, static_cast<float>(d.max - d.zero_out));
  for (int64_t half = 0; half < 2; ++half) {
    const int64_t begin = 2 * half * kChannels;
    const auto* biases = reinterpret_cast<const int32_t*>(piece.last + begin);
    const auto* scales = reinterpret_cast<const float*>(piece.last + kColumn + begin);
    typename Block::Sum sums[kTile][2];
    const auto first = hn::LoadU(ints, biases), second = hn::LoadU(ints, biases + kChannels / 4);
    TAPER_UNROLL
    for (int64_t i = 0; i < kTile; ++i) sums[i][0] = first, sums[i][1] = second;
    const int8_t* filter = piece.weights + begin;
    const int8_t* group = piece.columns + begin;
    for (int64_t g = 0; g < piece.groups; ++g, group += piece.group_bytes) {
      const int8_t* column = group;
      for (int64_t j = 0; j < s.window_width; ++j, filter += kColumn) {
        const auto a = hn::BitCast(ints, hn::LoadU(bytes, filter));
        const auto b = hn::BitCast(ints, hn::LoadU(bytes, filter + kChannels));
        TAPER_UNROLL
        for (int64_t i = 0; i < kTile; ++i) {
          const int8_t* pixels = column + i * kStep * kColumn;
          sums[i][0] = Block::add_products(sums[i][0], pixels, a);
          sums[i][1] = Block::add_products(sums[i][1], pixels + kChannels, b);
        }
        column += s.dilation_across * kColumn;
      }
    }
    const auto zero = hn::Set(typename Block::Shorts(), d.zero_out);
    const auto scale = hn::LoadU(reals, scales), other = hn::LoadU(reals, scales + kChannels / 4);
    TAPER_UNROLL
    for (int64_t i = 0; i < kTile; ++i) {
      const auto a = hn::Min(hn::Mul(hn::ConvertTo(reals, sums[i][0]), scale), most);
      const auto b = hn::Min(hn::Mul(hn::ConvertTo(reals, sums[i][1]), other), most);
      halves[half][i] = hn::SaturatedAdd(
          hn::ReorderDemote2To(typename Block::Shorts(), hn::NearestInt(a), hn::NearestInt(b)),
          zero);
    }
  }
  const auto least = hn::Set(bytes, d.min);
  TAPER_UNROLL
  for (int64_t i = 0; i < kTile; ++i) {
    const auto result = hn::Max(to_bytes(halves[0][i], halves[1][i]), least);
    if (i < count) hn::StoreU(result, bytes, out + i * s.channels);
  }
}

// `count` rows of results of a block, one or as many as are computed at once.
template <int64_t kChannels, int64_t kTaps, int64_t kStep>
void run_byte_row(const WindowShape& s, const ByteDepthwise& d, const ByteRows& rows,
                  const int8_t* filter, int64_t count, int8_t* out) {
  constexpr int64_t kColumn = kQuarters * kChannels;
  HWY_ALIGN int8_t buffer[kMostColumns * kColumn];
  const int64_t span = (s.window_width - 1) * s.dilation_across + 1;
  const int64_t groups = (s.window_height + kTaps - 1) / kTaps;
  const int64_t most = kMostColumns / groups;  // The columns that the buffer has room for.
  const int64_t tiles = std::min(kMostTiles, ((most - span) / kStep + 1) / kTile);
  for (int64_t x = 0; x < s.out_width; x += tiles * kTile) {
    const int64_t left_over = s.out_width - x;
    const int64_t these = std::min(tiles, (left_over + kTile - 1) / kTile);
    const int64_t columns = (these * kTile - 1) * kStep + span;
    ByteBlock<kChannels, kTaps>::fill(rows, groups, x * kStep - s.padding_left, columns, buffer);
    for (int64_t row = 0; row < count; ++row) {
      const int8_t* weights = filter + (2 + row * groups * s.window_width) * kColumn;
      BytePiece piece = {filter, weights, buffer, columns * kColumn, groups};
      int8_t* to = out + (row * s.out_width + x) * s.channels;
      for (int64_t left = left_over; left > left_over - these * kTile; left -= kTile) {
        run_byte_tile<kChannels, kTaps, kStep>(s, d, piece, left, to);
        piece.columns += kTile * kStep * kColumn;
        to += kTile * s.channels;
      }
    }
  }
}

// Rows [first, first + count) of the results of a block.
template <int64_t kChannels, int64_t kTaps, int64_t kStep>
void run_byte_block(const WindowShape& s, const ByteDepthwise& d, const BytePacking& packing,
                    const int8_t* filter, int64_t channel, int64_t first, int64_t count) {
  int8_t padding[kChannels];
  std::fill_n(padding, kChannels, d.zero_in);
  ByteRows rows;
  rows.width = s.width;
  rows.padding = padding;
  const int64_t at_once = packing.rows_at_once(s), end = first + count;
  for (int64_t r = first, these; r < end; r += these) {
    const int64_t y = r % s.out_height, image = r / s.out_height;
    these = std::min({at_once, end - r, s.out_height - y});
    rows.count = s.window_height + (these - 1) * s.step_down;
    const int8_t* pixels = d.image + image * s.height * s.width * s.channels + channel;
    for (int64_t i = 0; i < rows.count; ++i) {
      const int64_t line = y * s.step_down - s.padding_top + i * s.dilation_down;
      const bool is_inside = line >= 0 && line < s.height;
      rows.begin[i] = is_inside ? pixels + line * s.width * s.channels : padding;
      rows.step[i] = is_inside ? s.channels : 0;
    }
    run_byte_row<kChannels, kTaps, kStep>(s, d, rows, filter, these,
                                          d.out + r * s.out_width * s.channels + channel);
  }
}

template <int64_t kChannels, int64_t kTaps>
HWY_INLINE void run_stepped(const WindowShape& s, const ByteDepthwise& d,
                            const BytePacking& packing, const int8_t* filter, int64_t channel,
                            int64_t first, int64_t count) {
  const auto run = s.step_across == 1 ? run_byte_block<kChannels, kTaps, 1>
                                      : run_byte_block<kChannels, kTaps, 2>;
  run(s, d, packing, filter, channel, first, count);
}

template <int64_t kTaps>
void run_byte_rows(const WindowShape& s, const ByteDepthwise& d, const BytePacking& packing,
                   int64_t row, int64_t rows) {
  each_block(s, packing, [&](const ChannelBlock& block, int64_t place) {
    const int8_t* filter = static_cast<const int8_t*>(d.filter) + place;
    switch (block.count) {
#if HWY_TARGET == HWY_AVX3
      case 64:
        run_stepped<64, kTaps>(s, d, packing, filter, block.first, row, rows);
        break;
#endif
      case 32:
        run_stepped<32, kTaps>(s, d, packing, filter, block.first, row, rows);
        break;
      default:
        run_stepped<16, kTaps>(s, d, packing, filter, block.first, row, rows);
    }
  });
}

}  // namespace

// That for AVX-512 is for processors with VNNI; others take the one for AVX2, which is as fast.
void byte_depthwise_form(const WindowShape& s, const ByteDepthwise& d, const BytePacking& packing,
                         int64_t row, int64_t rows) {
  run_byte_rows<HWY_TARGET == HWY_AVX3 ? 4 : 2>(s, d, packing, row, rows);
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const WindowShape&, const ByteDepthwise&, const BytePacking&, int64_t,
                      int64_t);

BytePacking packing_here() { return has_vnni() ? BytePacking{64, 4} : BytePacking{32, 2}; }

Form form_here() {
  return choose<Form>(has_vnni() ? HWY_CHOOSE_AVX3(byte_depthwise_form) : nullptr,
                      HWY_CHOOSE_AVX2(byte_depthwise_form), TAPER_BASELINE(byte_depthwise_form));
}

// The place of a channel of a block among the lanes of its quarters.
int64_t lane_of(int64_t channel, int64_t block) {
  return channel % 16 / 4 * (block / 4) + channel / 16 * 4 + channel % 4;
}

// Packs the channels of a block: biases, scales, and for each of the rows that are computed at once
// the weights of each group of rows of the image, column by column.
void pack_block(const WindowShape& s, const ByteFilter& f, const BytePacking& packing,
                const ChannelBlock& block, int32_t* to) {
  auto* const scales = reinterpret_cast<float*>(to + block.count);
  auto* const weights = reinterpret_cast<int8_t*>(to + 2 * block.count);
  const int64_t size = 4 / packing.taps;  // Of a weight.
  const int64_t rows = packing.rows_at_once(s);
  for (int64_t i = 0; i < block.count; ++i) {
    const int64_t c = block.first + i, lane = lane_of(i, block.count);
    uint32_t sum = 0;
    for (int64_t k = 0; k < s.window_height * s.window_width; ++k) {
      const int16_t weight = f.weights[k * s.channels + c];  // The lower bytes of it.
      sum += static_cast<uint32_t>(weight);
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t row = k / s.window_width + r * s.step_down, column = k % s.window_width;
        const int64_t place = r * packing.weights(s) + row / packing.taps * s.window_width + column;
        int8_t* const from = weights + (place * block.count + lane) * 4;
        std::memcpy(from + row % packing.taps * size, &weight, static_cast<size_t>(size));
      }
    }
    const int32_t zero = f.zero_in + (packing.taps == 4 ? 128 : 0);
    const auto given = static_cast<uint32_t>(f.bias != nullptr ? f.bias[c] : 0);
    to[lane] = static_cast<int32_t>(given - static_cast<uint32_t>(zero) * sum);
    scales[lane] = f.scales[c];
  }
}

}  // namespace

bool has_byte_depthwise(const WindowShape& s) {
  if (form_here() == nullptr || s.channels < kLeastBlock) return false;
  const BytePacking packing = packing_here();
  if (packing.groups(s) * packing.taps > kMostRows || s.step_across > 2) return false;
  const int64_t span = (s.window_width - 1) * s.dilation_across + 1;
  constexpr int64_t kMostTile = 8;
  return ((kMostTile - 1) * s.step_across + span) * packing.groups(s) <= kMostColumns;
}

bool is_byte_depthwise_faster(const WindowShape& s) {
  const bool is_small = s.window_height * s.window_width <= kFewTaps;
  return !is_small || (!has_vnni() && s.step_across == 1);
}

int64_t byte_depthwise_size(const WindowShape& s) {
  return each_block(s, packing_here(), [](const ChannelBlock&, int64_t) {});
}

bool has_exact_sums(const WindowShape&, const ByteFilter&) { return true; }

void pack_byte_depthwise(const WindowShape& s, const ByteFilter& filter, void* to) {
  const BytePacking packing = packing_here();
  std::memset(to, 0, static_cast<size_t>(byte_depthwise_size(s)));
  each_block(s, packing, [&](const ChannelBlock& block, int64_t place) {
    pack_block(s, filter, packing, block,
               static_cast<int32_t*>(to) + place / static_cast<int64_t>(sizeof(int32_t)));
  });
}

void byte_depthwise(const WindowShape& s, const ByteDepthwise& d, int64_t row, int64_t rows) {
  form_here()(s, d, packing_here(), row, rows);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE

#elif !defined(__aarch64__) && HWY_ONCE

namespace taper::optimized {

bool has_byte_depthwise(const WindowShape&) { return false; }
bool is_byte_depthwise_faster(const WindowShape&) { return false; }
int64_t byte_depthwise_size(const WindowShape&) { return 0; }
bool has_exact_sums(const WindowShape&, const ByteFilter&) { return false; }
void pack_byte_depthwise(const WindowShape&, const ByteFilter&, void*) {}
void byte_depthwise(const WindowShape&, const ByteDepthwise&, int64_t, int64_t) {}

}  // namespace taper::optimized

#endif
