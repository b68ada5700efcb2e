// Convolutions of a few planes into channels last; planes.h explains the idea.

#include "kernels_optimized/cores/planes.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/planes.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_PLANES_LIMITS
#define TAPER_PLANES_LIMITS
namespace taper::optimized {
namespace {

constexpr int64_t kMostChannels = 4;
constexpr int64_t kMostTerms = 512;
constexpr int64_t kMostPanelFloats = 1 << 18;

// The floats of a row of the panel: all that the windows of a row of results cover.
int64_t panel_width(const PlanesShape& s) {
  return (s.out_width - 1) * s.step_across + (s.window_width - 1) * s.dilation_across + 1;
}

// Copies the rows that a row of results needs: for each window row, one of each channel.
void fill_panel(const PlanesShape& s, const float* image, int64_t out_row, float* panel) {
  const int64_t width = panel_width(s);
  const int64_t left = std::min(s.padding_left, width);
  const int64_t inside = std::clamp<int64_t>(s.width, 0, width - left);
  for (int64_t k = 0; k < s.window_height; ++k) {
    const int64_t y = out_row * s.step_down - s.padding_top + k * s.dilation_down;
    for (int64_t c = 0; c < s.channels; ++c, panel += width) {
      if (y < 0 || y >= s.height) {
        std::fill_n(panel, width, 0.f);
        continue;
      }
      std::fill_n(panel, left, 0.f);
      std::copy_n(image + (c * s.height + y) * s.width, inside, panel + left);
      std::fill(panel + left + inside, panel + width, 0.f);
    }
  }
}

// The place in the panel of each term of the first result of a row, in the order of the filter.
void find_places(const PlanesShape& s, int32_t* places) {
  const int64_t width = panel_width(s);
  for (int64_t k = 0; k < s.window_height; ++k) {
    for (int64_t j = 0; j < s.window_width; ++j) {
      for (int64_t c = 0; c < s.channels; ++c) {
        *places++ = static_cast<int32_t>((k * s.channels + c) * width + j * s.dilation_across);
      }
    }
  }
}

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// A tile is some results of one or two vectors of output channels: its sums fit in registers.
constexpr int kStrip = HWY_ARCH_X86 && kLanes < 16 ? 5 : 10;
constexpr int64_t kBlock = 2 * kLanes;

// A block of output channels of a row.
struct Block {
  const float* panel;
  const int32_t* places;  // Of each term in the panel.
  int64_t terms, step;
  const float* filter;
  int64_t out, outs;  // The first channel, and how many there are.
};

// kStep is the step if it is not 0: then pixels are at known distances.
template <int kVectors, int kCount, int kStep>
void run_tile(const PlanesData& d, const Block& b, const float* panel, float* out,
              int64_t out_step) {
  const int64_t last = b.outs - (kVectors - 1) * kLanes;  // The channels of the last vector.
  const auto count = [&](int v) { return v + 1 < kVectors ? kLanes : last; };
  Vec sums[kCount][kVectors];
  TAPER_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const Vec bias =
        d.bias != nullptr ? load_count(d.bias + b.out + v * kLanes, count(v)) : hn::Zero(kTag);
    TAPER_UNROLL
    for (int i = 0; i < kCount; ++i) sums[i][v] = bias;
  }
  const int64_t step = kStep != 0 ? kStep : b.step;
  const float* filter = b.filter;
  for (int64_t t = 0; t < b.terms; ++t, filter += kBlock) {
    const float* pixels = panel + b.places[t];
    Vec factors[kVectors];
    TAPER_UNROLL
    for (int v = 0; v < kVectors; ++v) factors[v] = hn::LoadU(kTag, filter + v * kLanes);
    TAPER_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const Vec pixel = constant(pixels[i * step]);
      TAPER_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(pixel, factors[v], sums[i][v]);
    }
  }
  const Vec min = constant(d.min), max = constant(d.max);
  TAPER_UNROLL
  for (int i = 0; i < kCount; ++i, out += out_step) {
    TAPER_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      store_count(at_most(at_least(sums[i][v], min), max), out + v * kLanes, count(v));
    }
  }
}

// Computes a row in strips of results. The last strip may overlap the one before it. A row of fewer
// results has strips of half as many.
template <int kVectors, int kCount, int kStep>
void run_block(const PlanesShape& s, const PlanesData& d, const Block& b, float* out) {
  const auto at = [&](int64_t x) { return out + x * s.out_channels; };
  if constexpr (kCount > 1) {
    if (s.out_width < kCount) return run_block<kVectors, kCount / 2, 0>(s, d, b, out);
  }
  for (int64_t x = 0; x < s.out_width; x += kCount) {
    const int64_t from = std::min(x, s.out_width - kCount);
    run_tile<kVectors, kCount, kStep>(d, b, b.panel + from * b.step, at(from), s.out_channels);
  }
}

template <int kVectors, int kCount>
void run_blocks(const PlanesShape& s, const PlanesData& d, const Block& b, float* out) {
  if (b.step == 1) return run_block<kVectors, kCount, 1>(s, d, b, out);
  if (b.step == 2) return run_block<kVectors, kCount, 2>(s, d, b, out);
  run_block<kVectors, kCount, 0>(s, d, b, out);
}

}  // namespace

int64_t planes_block_form() { return kBlock; }

void planes_form(const PlanesShape& s, const PlanesData& d, int64_t row, float* panel) {
  const int64_t image_size = s.channels * s.height * s.width;
  fill_panel(s, d.image + row / s.out_height * image_size, row % s.out_height, panel);
  int32_t places[kMostTerms];
  find_places(s, places);
  float* out = d.out + row * s.out_width * s.out_channels;
  for (int64_t first = 0; first < s.out_channels; first += kBlock) {
    const Block block{panel,
                      places,
                      s.terms(),
                      s.step_across,
                      d.filter + first * s.terms(),
                      first,
                      std::min(kBlock, s.out_channels - first)};
    const auto run = block.outs > kLanes ? run_blocks<2, kStrip> : run_blocks<1, 2 * kStrip>;
    run(s, d, block, out + first);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const PlanesShape&, const PlanesData&, int64_t, float*);
using BlockSize = int64_t (*)();

int64_t block_size() { return TAPER_CHOOSE(BlockSize, planes_block_form)(); }

}  // namespace

bool has_planes(const PlanesShape& shape) {
  const BlockSize block = TAPER_CHOOSE(BlockSize, planes_block_form);
  return block != nullptr && shape.channels <= kMostChannels && shape.terms() <= kMostTerms &&
         panel_width(shape) <= kMostPanelFloats / shape.terms();
}

int64_t planes_filter_size(const PlanesShape& shape) {
  const int64_t block = block_size();
  return (shape.out_channels + block - 1) / block * block * shape.terms();
}

void pack_planes(const PlanesShape& shape, const float* filter, float* packed) {
  const int64_t block = block_size(), terms = shape.terms();
  for (int64_t first = 0; first < shape.out_channels; first += block) {
    for (int64_t t = 0; t < terms; ++t) {
      for (int64_t o = first; o < first + block; ++o) {
        *packed++ = o < shape.out_channels ? filter[o * terms + t] : 0;
      }
    }
  }
}

int64_t planes_panel_size(const PlanesShape& shape) {
  return shape.window_height * shape.channels * panel_width(shape);
}

void planes(const PlanesShape& shape, const PlanesData& data, int64_t row, float* panel) {
  TAPER_CHOOSE(Form, planes_form)(shape, data, row, panel);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
