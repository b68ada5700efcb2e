// Grouped convolutions with small groups; grouped.h explains the idea.

#include "kernels_optimized/cores/grouped/grouped.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/grouped/grouped.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_GROUPED_LIMIT
#define TAPER_GROUPED_LIMIT
namespace taper::optimized {
namespace {

constexpr int64_t kMostGroupChannels = 8;

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
    for (int64_t t = 0; t < s.group_channels; ++t) {
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

// Computes kCount results of a row, from column x on.
template <int kCount>
void run_strip(const GroupedShape& s, const GroupedData& d, const Orders& orders, const Block& b,
               int64_t row, int64_t x) {
  const Vec bias = d.bias != nullptr ? load_count(d.bias + b.out, b.outs) : hn::Zero(kTag);
  Vec sums[kCount];
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i) sums[i] = bias;
  const int64_t top = row % s.out_height * s.step_down - s.padding_top;
  const int64_t left = x * s.step_across - s.padding_left;
  const float* image = d.image + row / s.out_height * s.height * s.width * s.channels + b.in;
  const float* filter = b.filter;
  const int64_t column_size = s.group_channels * kLanes;
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
  const Vec min = constant(d.min), max = constant(d.max);
  float* out = d.out + (row * s.out_width + x) * s.out_channels + b.out;
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i, out += s.out_channels) {
    store_count(at_most(at_least(sums[i], min), max), out, b.outs);
  }
}

// Computes a row in strips of results. The last strip may overlap the one before it.
void run_row(const GroupedShape& s, const GroupedData& d, const Orders& orders, const Block& block,
             int64_t row) {
  if (s.out_width < kStrip) {
    for (int64_t x = 0; x < s.out_width; ++x) run_strip<1>(s, d, orders, block, row, x);
    return;
  }
  for (int64_t x = 0; x < s.out_width; x += kStrip) {
    run_strip<kStrip>(s, d, orders, block, row, std::min(x, s.out_width - kStrip));
  }
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
  for (int64_t index = 0; index * kLanes < s.out_channels; ++index) {
    const Block block(s, d, index);
    for (int64_t row = first; row < first + rows; ++row) run_row(s, d, orders, block, row);
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

bool has_grouped(int64_t group_channels, int64_t group_out_channels) {
  const Lanes lanes = TAPER_CHOOSE(Lanes, grouped_lanes_form);
  return lanes != nullptr && group_channels <= kMostGroupChannels &&
         group_channels <= group_out_channels && lanes() % group_out_channels == 0;
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
