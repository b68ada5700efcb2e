// Grouped convolutions with groups of at least a vector of results; grouped_rows.h explains the
// idea.

#include "kernels_optimized/cores/grouped/grouped_rows.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/grouped/grouped_rows.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/cores/strips.h"
#include "kernels_optimized/engine/vector_math.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_GROUPED_ROWS_BUNDLES
#define TAPER_GROUPED_ROWS_BUNDLES
namespace taper::optimized {
namespace {

// The groups that share a vector of results, and how many such bundles there are.
int64_t bundle_size(const GroupedShape& s, int64_t lanes) {
  return s.group_out_channels < lanes ? lanes / s.group_out_channels : 1;
}
int64_t bundle_count(const GroupedShape& s, int64_t lanes) {
  const int64_t size = bundle_size(s, lanes), groups = s.out_channels / s.group_out_channels;
  return (groups + size - 1) / size;
}

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// The channels of a block of a copied row.
constexpr int64_t kBlock = 16;

// How the lanes of a vector are ordered where several groups share it: channel by channel, and for
// each channel group by group. Then a term's pixels of all groups lie side by side in memory, and
// one load fills a vector with copies of them.
struct Orders {
  HWY_ALIGN int32_t in[kLanes] = {};  // Of the channels of a pixel.
  HWY_ALIGN int32_t bias[kLanes] = {};
  HWY_ALIGN int32_t out[kLanes] = {};  // Back to channels of one group after another.

  Orders(const GroupedShape& s, int64_t bundle) {
    for (int64_t g = 0; g < bundle; ++g) {
      for (int64_t c = 0; c < s.group_channels && bundle > 1; ++c) {
        in[c * bundle + g] = static_cast<int32_t>(g * s.group_channels + c);
      }
      for (int64_t c = 0; c < kLanes / bundle; ++c) {
        bias[c * bundle + g] = static_cast<int32_t>(g * (kLanes / bundle) + c);
        out[g * (kLanes / bundle) + c] = static_cast<int32_t>(c * bundle + g);
      }
    }
  }
};

HWY_INLINE Vec reordered(Vec x, const int32_t* order) {
  return hn::TableLookupLanes(x, hn::SetTableIndices(kTag, order));
}

// The most results of a row that are computed at once, of one vector and of two.
constexpr int64_t kMostPixels[] = {HWY_TARGET == HWY_AVX3 ? 14 : 10,
                                   HWY_TARGET == HWY_AVX3 ? 12 : 6};

int64_t vectors_of(const GroupedShape& s) { return (s.group_out_channels + kLanes - 1) / kLanes; }

// ---- The rows ----

// How rows are copied: columns that are `step_across` apart follow one another, because
// neighbouring results read them; so a row consists of as many phases. The channels of a phase are
// divided into blocks, so that a column is kBlock floats away from the next, whatever the shape.
struct Layout {
  int64_t bundle;
  int64_t columns;  // Of a phase.
  int64_t block_size, phase_size, row_size;
  int64_t rows;  // What so many rows of results read.

  Layout(const GroupedShape& s, int64_t rows)
      : bundle(bundle_size(s, kLanes)),
        columns(s.out_width + (s.window_width - 1) * s.dilation_across / s.step_across),
        block_size(columns * kBlock),
        phase_size((s.group_channels + kBlock - 1) / kBlock * block_size),
        row_size(s.step_across * phase_size),
        rows((rows - 1) * s.step_down + (s.window_height - 1) * s.dilation_down + 1) {}
};

HWY_INLINE void copy_block(const float* from, int64_t count, float* to) {
  if (count < kBlock) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  TAPER_UNROLL
  for (int64_t i = 0; i < kBlock; i += kLanes) hn::StoreU(hn::LoadU(kTag, from + i), kTag, to + i);
}

// Copies `channels` of a row of an image, of one group or of a bundle; null: zeros.
template <bool kIsBundle>
void copy_row(const GroupedShape& s, const Layout& layout, const Orders& orders, const float* row,
              int64_t channels, float* to) {
  const int64_t step = s.step_across;
  for (int64_t phase = 0; phase < step; ++phase) {
    // Columns [first, last) of the phase lie inside the image.
    const int64_t before = s.padding_left - phase;  // Of the image's columns.
    const int64_t first = std::clamp((before + step - 1) / step, int64_t{0}, layout.columns);
    const int64_t last =
        row == nullptr ? first
                       : std::clamp((before + s.width + step - 1) / step, first, layout.columns);
    for (int64_t c = 0; c < channels; c += kBlock, to += layout.block_size) {
      const int64_t count = std::min(kBlock, channels - c);
      std::fill(to, to + first * kBlock, 0.0f);
      for (int64_t i = first; i < last; ++i) {
        const float* from = row + (i * step - before) * s.channels + c;
        if constexpr (kIsBundle) {
          hn::StoreU(reordered(load_count(from, count), orders.in), kTag, to + i * kBlock);
        } else {
          copy_block(from, count, to + i * kBlock);
        }
      }
      std::fill(to + last * kBlock, to + layout.block_size, 0.0f);
    }
  }
}

// Copies the rows that a part reads.
void copy_rows(const GroupedShape& s, const Layout& layout, const Orders& orders,
               const float* image, const GroupedPart& part, float* to) {
  const int64_t top = part.first * s.step_down - s.padding_top;
  const int64_t most = layout.bundle * s.group_channels, first = part.bundle * most;
  const int64_t channels = std::min(most, s.channels - first);
  image += part.image * s.height * s.width * s.channels + first;
  for (int64_t i = 0; i < layout.rows; ++i, to += layout.row_size) {
    const int64_t y = top + i;
    const float* row = y >= 0 && y < s.height ? image + y * s.width * s.channels : nullptr;
    const auto copy = layout.bundle > 1 ? copy_row<true> : copy_row<false>;
    copy(s, layout, orders, row, channels, to);
  }
}

// ---- The products ----

// What all results of a part have in common.
struct Windows {
  const GroupedShape& shape;
  const Layout& layout;
  const Orders& orders;
  int64_t down_step;  // From the window of a result to that of the next row.
  int64_t out_step, out_down_step;
  // From a tap to the next, whole columns of a phase and phases.
  int64_t tap_columns, tap_phases;
  Vec min, max;

  Windows(const GroupedShape& s, const Layout& layout, const Orders& orders, const GroupedData& d)
      : shape(s),
        layout(layout),
        orders(orders),
        down_step(s.step_down * layout.row_size),
        out_step(s.out_channels),
        out_down_step(s.out_width * s.out_channels),
        tap_columns(s.dilation_across / s.step_across),
        tap_phases(s.dilation_across % s.step_across),
        min(constant(d.min)),
        max(constant(d.max)) {}
};

// Neighbouring results of a row or of two, and one or two vectors of their channels.
struct Tile {
  const float* pixels;  // The first column of the first result's window.
  const float* filter;
  const float* bias;  // Null: none.
  float* out;
  int64_t channels;
};

template <int kBundle, int kPixels, int kVectors>
HWY_INLINE void store_row(const Windows& w, const Vec (&sums)[kPixels][kVectors], float* out,
                          int64_t channels) {
  TAPER_UNROLL
  for (int i = 0; i < kPixels; ++i, out += w.out_step) {
    TAPER_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      Vec result = at_most(at_least(sums[i][j], w.min), w.max);
      if constexpr (kBundle > 1) result = reordered(result, w.orders.out);
      store_count(result, out + j * kLanes, channels - j * kLanes);
    }
  }
}

// A vector of copies of a term's pixels, one for each group of a bundle.
template <int kBundle>
HWY_INLINE Vec copies_of(const float* pixels) {
  if constexpr (kBundle == 1) {
    return hn::Set(kTag, *pixels);
  } else if constexpr (kBundle == 2) {
    uint64_t both;
    std::memcpy(&both, pixels, sizeof(both));
    return hn::BitCast(kTag, hn::Set(hn::Repartition<uint64_t, Tag>(), both));
  } else {
    static_assert(kBundle == 4);
    return hn::LoadDup128(kTag, pixels);
  }
}

// Adds the products of a tap and a block of channels: the innermost loop, where the time is spent.
template <int kBundle, int kRows, int kPixels, int kVectors>
HWY_INLINE void add_block(const float* pixels, int64_t down_step, int64_t terms,
                          const float* filter, Vec (&sums)[kRows][kPixels][kVectors]) {
  const float* const rows[2] = {pixels, pixels + down_step};
  for (int64_t k = 0; k < terms; ++k, filter += kVectors * kLanes) {
    Vec factors[kVectors];
    TAPER_UNROLL
    for (int j = 0; j < kVectors; ++j) factors[j] = hn::LoadU(kTag, filter + j * kLanes);
    TAPER_UNROLL
    for (int i = 0; i < kRows * kPixels; ++i) {
      const int row = i / kPixels, x = i % kPixels;
      const Vec pixel = copies_of<kBundle>(rows[row] + x * kBlock + k * kBundle);
      TAPER_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        sums[row][x][j] = hn::MulAdd(pixel, factors[j], sums[row][x][j]);
      }
    }
  }
}

template <int kBundle, int kRows, int kPixels, int kVectors>
void run_tile(const Windows& w, const Tile& tile) {
  Vec sums[kRows][kPixels][kVectors];
  TAPER_UNROLL
  for (int j = 0; j < kVectors; ++j) {
    const int64_t at = j * kLanes;
    Vec bias =
        tile.bias != nullptr ? load_count(tile.bias + at, tile.channels - at) : hn::Zero(kTag);
    if constexpr (kBundle > 1) bias = reordered(bias, w.orders.bias);
    TAPER_UNROLL
    for (int i = 0; i < kRows * kPixels; ++i) sums[i / kPixels][i % kPixels][j] = bias;
  }
  const float* filter = tile.filter;
  const GroupedShape& s = w.shape;
  const Layout& layout = w.layout;
  for (int64_t row = 0; row < s.window_height; ++row) {
    const float* tap = tile.pixels + row * s.dilation_down * layout.row_size;
    int64_t phase = 0;
    for (int64_t column = 0; column < s.window_width; ++column) {
      const float* pixels = tap;
      for (int64_t left = s.group_channels; left > 0; left -= kBlock) {
        const int64_t terms = std::min(kBlock, left);
        add_block<kBundle, kRows, kPixels, kVectors>(pixels, w.down_step, terms, filter, sums);
        filter += terms * kVectors * kLanes;
        pixels += layout.block_size;
      }
      phase += w.tap_phases;
      tap += w.tap_columns * kBlock + w.tap_phases * layout.phase_size;
      if (phase >= s.step_across) {
        phase -= s.step_across;
        tap += kBlock - s.step_across * layout.phase_size;
      }
    }
  }
  store_row<kBundle>(w, sums[0], tile.out, tile.channels);
  if constexpr (kRows == 2) {
    store_row<kBundle>(w, sums[1], tile.out + w.out_down_step, tile.channels);
  }
}

// For each there is a function: run_rows() lists them once more.
constexpr int kWidths[] = {1, 2, 4, 5, 6, 7, 8, 10, 12, 14};

// The width of the tiles of a row: such that they overlap little.
int64_t tile_width(int64_t row, int64_t most) {
  const int64_t count = (row + most - 1) / most, least = (row + count - 1) / count;
  int64_t best = 1;
  for (const int width : kWidths) {
    if (width <= std::min(row, most) && best < least) best = width;
  }
  return best;
}

// Computes `rows` rows of results, two at once where tiles are narrow. The last tile of a row may
// overlap the one before it.
template <int kBundle, int kVectors>
void run_rows(const GroupedShape& s, const Windows& w, int64_t rows, Tile tile) {
  constexpr int64_t kMost = kMostPixels[kVectors - 1];
  const int64_t width = tile_width(s.out_width, kMost);
  const float* const pixels = tile.pixels;
  float* const out = tile.out;
  for (int64_t y = 0, count; y < rows; y += count) {
    count = 2 * width <= kMost && y + 1 < rows ? 2 : 1;
    for (int64_t x = 0; x < s.out_width; x += width) {
      x = std::min(x, s.out_width - width);
      tile.pixels = pixels + y * w.down_step + x * kBlock;
      tile.out = out + y * w.out_down_step + x * w.out_step;
      with_one_of<1, 2, 4, 5, 6, 7, 8, 10, 12, 14>(width, [&](auto constant) HWY_ATTR {
        constexpr int kPixels = std::min<int>(constant, kMost);
        if (count == 2) {
          run_tile<kBundle, 2, std::min<int>(kPixels, kMost / 2), kVectors>(w, tile);
        } else {
          run_tile<kBundle, 1, kPixels, kVectors>(w, tile);
        }
      });
    }
  }
}

}  // namespace

int64_t grouped_rows_lanes_form() { return kLanes; }

// The channels of a group are packed by two vectors, term by term; the last may be one. Those of a
// bundle are packed in the order of its lanes.
void pack_grouped_rows_form(const GroupedShape& s, const GroupedFilter& filter, float* packed) {
  const int64_t vectors = vectors_of(s), outs = s.group_out_channels;
  const int64_t bundle = bundle_size(s, kLanes);
  const auto weight = [&](int64_t group, int64_t o, int64_t t) {
    const int64_t channel = group * outs + o;
    const bool is_there = o < outs && channel < s.out_channels;
    return is_there ? filter.data[channel * filter.out_step + t * filter.term_step] : 0;
  };
  for (int64_t b = 0; b < bundle_count(s, kLanes); ++b) {
    for (int64_t v = 0; v < vectors; v += 2) {
      const int64_t lanes = std::min<int64_t>(2, vectors - v) * kLanes;
      for (int64_t t = 0; t < s.terms(); ++t) {
        for (int64_t i = 0; i < lanes; ++i) {
          *packed++ = weight(b * bundle + i % bundle, (v * kLanes + i) / bundle, t);
        }
      }
    }
  }
}

void grouped_rows_form(const GroupedShape& s, const GroupedData& d, const GroupedPart& part,
                       float* scratch) {
  const Layout layout(s, part.rows);
  const Orders orders(s, layout.bundle);
  copy_rows(s, layout, orders, d.image, part, scratch);
  const Windows windows(s, layout, orders, d);
  const int64_t vectors = vectors_of(s), most = layout.bundle * s.group_out_channels;
  const int64_t outs = std::min(most, s.out_channels - part.bundle * most);
  const int64_t row = part.image * s.out_height + part.first;
  for (int64_t v = 0; v < vectors; v += 2) {
    const int64_t first = part.bundle * most + v * kLanes;
    Tile tile = {};
    tile.pixels = scratch;
    tile.filter = d.filter + (part.bundle * vectors + v) * kLanes * s.terms();
    tile.bias = d.bias != nullptr ? d.bias + first : nullptr;
    tile.out = d.out + row * windows.out_down_step + first;
    tile.channels = outs - v * kLanes;
    if (v + 1 < vectors) {
      run_rows<1, 2>(s, windows, part.rows, tile);
    } else if (layout.bundle == 1) {
      run_rows<1, 1>(s, windows, part.rows, tile);
    } else if (layout.bundle == 2) {
      run_rows<2, 1>(s, windows, part.rows, tile);
    } else {
      run_rows<4, 1>(s, windows, part.rows, tile);
    }
  }
}

int64_t grouped_rows_scratch_form(const GroupedShape& s, int64_t rows) {
  const Layout layout(s, rows);
  return layout.rows * layout.row_size;
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const GroupedShape&, const GroupedData&, const GroupedPart&, float*);
using Pack = void (*)(const GroupedShape&, const GroupedFilter&, float*);
using Lanes = int64_t (*)();
using Scratch = int64_t (*)(const GroupedShape&, int64_t);

}  // namespace

bool has_grouped_rows(int64_t group_channels, int64_t group_out_channels) {
  const Lanes lanes = TAPER_CHOOSE(Lanes, grouped_rows_lanes_form);
  // Shorter vectors have instructions that multiply by a lane, which are not used here.
  if (lanes == nullptr || lanes() < 8) return false;
  if (group_channels < 4 || group_out_channels > 64) return false;
  if (group_out_channels >= lanes()) return true;
  // One load fills a vector with copies of 8 or of 16 bytes.
  const int64_t bundle = lanes() / group_out_channels;
  const bool has_load = bundle * group_out_channels == lanes() && (bundle == 2 || bundle == 4);
  return has_load && group_channels <= group_out_channels;
}

int64_t grouped_rows_bundles(const GroupedShape& shape) {
  return bundle_count(shape, TAPER_CHOOSE(Lanes, grouped_rows_lanes_form)());
}

int64_t grouped_rows_filter_size(const GroupedShape& s) {
  const int64_t lanes = TAPER_CHOOSE(Lanes, grouped_rows_lanes_form)();
  const int64_t padded = (s.group_out_channels + lanes - 1) / lanes * lanes;
  return bundle_count(s, lanes) * padded * s.terms();
}

void pack_grouped_rows(const GroupedShape& shape, const GroupedFilter& filter, float* packed) {
  TAPER_CHOOSE(Pack, pack_grouped_rows_form)(shape, filter, packed);
}

int64_t grouped_rows_scratch(const GroupedShape& shape, int64_t rows) {
  return TAPER_CHOOSE(Scratch, grouped_rows_scratch_form)(shape, rows);
}

void grouped_rows(const GroupedShape& shape, const GroupedData& data, const GroupedPart& part,
                  float* scratch) {
  TAPER_CHOOSE(Form, grouped_rows_form)(shape, data, part, scratch);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
