// Grouped convolutions with small groups; grouped.h explains the idea.

#include "kernels_optimized/cores/grouped/grouped.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/grouped/grouped.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_GROUPED_LIMIT
#define TAPER_GROUPED_LIMIT
namespace taper::optimized {
namespace {

constexpr int64_t kMostGroupChannels = 8;
// The same for groups that fill vectors.
constexpr int64_t kMostGroupOuts = 64;

// Whether windows are pixels of the image, and groups fill vectors of so many lanes.
inline bool is_product(const GroupedShape& s, int64_t lanes) {
  const bool has_pixel = s.window_height * s.window_width == 1 && s.padding_top == 0 &&
                         s.padding_left == 0 && s.out_height == (s.height - 1) / s.step_down + 1 &&
                         s.out_width == (s.width - 1) / s.step_across + 1;
  return has_pixel && s.group_out_channels % lanes == 0;
}

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// The number of results computed at once: their sums and their pixels fit in registers.
constexpr int kStrip = HWY_ARCH_X86 && kLanes < 16 ? 4 : 8;

// For each term, which lane of a pixel every result takes.
struct Orders {
  HWY_ALIGN int32_t lanes[kMostGroupChannels][kLanes];

  explicit Orders(const GroupedShape& s) {
    for (int64_t t = 0; t < std::min(s.group_channels, kMostGroupChannels); ++t) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        lanes[t][lane] = static_cast<int32_t>(lane / s.group_out_channels * s.group_channels + t);
      }
    }
  }
};

// A vector of output channels, the input channels that it is computed from, and its packed filter.
struct Block {
  int64_t out, outs;
  int64_t in, ins;
  const float* filter;

  Block(const GroupedShape& s, const GroupedData& d, int64_t index)
      : out(index * kLanes),
        outs(std::min(kLanes, s.out_channels - out)),
        in(out / s.group_out_channels * s.group_channels),
        ins(outs / s.group_out_channels * s.group_channels),
        filter(d.filter + out * s.terms()) {}
};

template <int kCount>
HWY_INLINE void begin_sums(const GroupedData& d, const Block& b, Vec (&sums)[kCount]) {
  const Vec bias = d.bias != nullptr ? load_count(d.bias + b.out, b.outs) : hn::Zero(kTag);
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i) sums[i] = bias;
}

// Stores the results of a row from column x on.
template <int kCount>
HWY_INLINE void store_sums(const GroupedShape& s, const GroupedData& d, const Block& b, int64_t row,
                           int64_t x, const Vec (&sums)[kCount]) {
  const Vec min = constant(d.min), max = constant(d.max);
  float* out = d.out + (row * s.out_width + x) * s.out_channels + b.out;
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i, out += s.out_channels) {
    store_count(at_most(at_least(sums[i], min), max), out, b.outs);
  }
}

// Computes kCount results of a row, from column x on.
template <int kCount>
void run_strip(const GroupedShape& s, const GroupedData& d, const Orders& orders, const Block& b,
               int64_t row, int64_t x) {
  Vec sums[kCount];
  begin_sums(d, b, sums);
  const int64_t top = row % s.out_height * s.step_down - s.padding_top;
  const int64_t left = x * s.step_across - s.padding_left;
  const float* image = d.image + row / s.out_height * s.height * s.width * s.channels + b.in;
  const float* filter = b.filter;
  const int64_t column_size = s.group_channels * kLanes;
  // What the next strip reads of the row that this row of results is the first to read.
  const int64_t lowest = std::min(top + (s.window_height - 1) * s.dilation_down, s.height - 1);
  const float* next = image + (lowest * s.width + left + kCount * s.step_across) * s.channels;
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i) hwy::Prefetch(next + i * s.step_across * s.channels);
  for (int64_t k = 0; k < s.window_height; ++k) {
    const int64_t y = top + k * s.dilation_down;
    if (y < 0 || y >= s.height) {
      filter += s.window_width * column_size;
      continue;
    }
    for (int64_t j = 0; j < s.window_width; ++j, filter += column_size) {
      Vec pixels[kCount];
      TAPER_UNROLL
      for (int i = 0; i < kCount; ++i) {
        const int64_t column = left + i * s.step_across + j * s.dilation_across;
        const bool is_inside = column >= 0 && column < s.width;
        pixels[i] = is_inside ? load_count(image + (y * s.width + column) * s.channels, b.ins)
                              : hn::Zero(kTag);
      }
      for (int64_t t = 0; t < s.group_channels; ++t) {
        const Vec factors = hn::LoadU(kTag, filter + t * kLanes);
        const auto order = hn::SetTableIndices(kTag, orders.lanes[t]);
        TAPER_UNROLL
        for (int i = 0; i < kCount; ++i) {
          sums[i] = hn::MulAdd(hn::TableLookupLanes(pixels[i], order), factors, sums[i]);
        }
      }
    }
  }
  store_sums(s, d, b, row, x, sums);
}

// Computes kCount results of a row, from column x on, of windows of one pixel and groups that fill
// vectors: the factors of each term are one channel of the pixel.
template <int kCount>
void multiply_strip(const GroupedShape& s, const GroupedData& d, const Block& b, int64_t row,
                    int64_t x) {
  Vec sums[kCount];
  begin_sums(d, b, sums);
  const float* image = d.image + b.in;
  const int64_t image_row = row / s.out_height * s.height + row % s.out_height * s.step_down;
  const float* pixel = image + (image_row * s.width + x * s.step_across) * s.channels;
  const int64_t pitch = s.step_across * s.channels;
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i) hwy::Prefetch(pixel + (kCount + i) * pitch);
  for (int64_t t = 0; t < s.group_channels; ++t) {
    const Vec factors = hn::LoadU(kTag, b.filter + t * kLanes);
    TAPER_UNROLL
    for (int i = 0; i < kCount; ++i) {
      sums[i] = hn::MulAdd(constant(pixel[i * pitch + t]), factors, sums[i]);
    }
  }
  store_sums(s, d, b, row, x, sums);
}

// Computes columns [x, end) of a row in strips of results. The last strip of a row may overlap the
// one before it.
void run_columns(const GroupedShape& s, const GroupedData& d, const Orders& orders,
                 const Block& block, int64_t row, int64_t x, int64_t end) {
  const bool multiplies = is_product(s, kLanes);
  const auto run = [&](auto count, int64_t column) {
    if (multiplies) {
      multiply_strip<count>(s, d, block, row, column);
    } else {
      run_strip<count>(s, d, orders, block, row, column);
    }
  };
  if (s.out_width < kStrip) {
    for (; x < end; ++x) run(std::integral_constant<int, 1>{}, x);
    return;
  }
  for (; x < end; x += kStrip) {
    run(std::integral_constant<int, kStrip>{}, std::min(x, s.out_width - kStrip));
  }
}

// The number of columns after which the next block begins. A strip at a time reads memory in order,
// if the filter stays in the first cache; else the pixels that all blocks read stay in the second.
int64_t columns_at_once(const GroupedShape& s) {
  constexpr int64_t kFirstFloats = int64_t{4} << 10, kSecondFloats = int64_t{32} << 10;
  if (s.terms() * s.out_channels <= kFirstFloats) return kStrip;
  const int64_t floats = s.channels * s.window_height * s.step_across;
  return std::max(kSecondFloats / floats / kStrip, int64_t{1}) * kStrip;
}

}  // namespace

int64_t grouped_lanes_form() { return kLanes; }

void pack_grouped_form(const GroupedShape& s, const GroupedFilter& filter, float* packed) {
  for (int64_t out = 0; out < s.out_channels; out += kLanes) {
    for (int64_t t = 0; t < s.terms(); ++t) {
      for (int64_t o = out; o < out + kLanes; ++o) {
        const bool is_there = o < s.out_channels;
        *packed++ = is_there ? filter.data[o * filter.out_step + t * filter.term_step] : 0;
      }
    }
  }
}

void grouped_form(const GroupedShape& s, const GroupedData& d, int64_t first, int64_t rows) {
  const Orders orders(s);
  const int64_t columns = columns_at_once(s);
  for (int64_t x = 0; x < s.out_width; x += columns) {
    const int64_t end = std::min(x + columns, s.out_width);
    for (int64_t index = 0; index * kLanes < s.out_channels; ++index) {
      const Block block(s, d, index);
      for (int64_t row = first; row < first + rows; ++row) {
        run_columns(s, d, orders, block, row, x, end);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const GroupedShape&, const GroupedData&, int64_t, int64_t);
using Pack = void (*)(const GroupedShape&, const GroupedFilter&, float*);
using Lanes = int64_t (*)();

}  // namespace

bool has_grouped(const GroupedShape& s) {
  const Lanes lanes = TAPER_CHOOSE(Lanes, grouped_lanes_form);
  if (lanes == nullptr) return false;
  if (is_product(s, lanes())) return s.group_out_channels <= kMostGroupOuts;
  return s.group_channels <= kMostGroupChannels && s.group_channels <= s.group_out_channels &&
         lanes() % s.group_out_channels == 0;
}

int64_t grouped_filter_size(const GroupedShape& shape) {
  const int64_t lanes = TAPER_CHOOSE(Lanes, grouped_lanes_form)();
  return (shape.out_channels + lanes - 1) / lanes * lanes * shape.terms();
}

void pack_grouped(const GroupedShape& shape, const GroupedFilter& filter, float* packed) {
  TAPER_CHOOSE(Pack, pack_grouped_form)(shape, filter, packed);
}

void grouped(const GroupedShape& shape, const GroupedData& data, int64_t first, int64_t rows) {
  TAPER_CHOOSE(Form, grouped_form)(shape, data, first, rows);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
