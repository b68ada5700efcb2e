// Convolution with steps of 1 along rows, without a matrix of patches. The input rows that a block
// of output rows needs are copied to a panel, with zeros where they lie outside of the input. The
// right operand of the product then lies there already: its row for a channel and a tap is the
// panel from an offset on, and the offset is the same for all positions.

#include <algorithm>
#include <cstring>

#include "kernels_optimized/cores/conv_planes.h"
#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/engine/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/conv_direct.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/cores/strips.h"
#include "kernels_optimized/engine/vector_math.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_CONV_BLOCKS
#define TAPER_CONV_BLOCKS
namespace taper::optimized {
namespace {

// How a convolution is divided into blocks: some rows and columns of a slice of the output, which
// are computed from some input channels at a time.
struct Blocks {
  int64_t rows = 0, columns = 0, channels = 0;
  // For each channel and each tap along the first dimension, the panel has `slots` rows of `pitch`
  // floats. Tap t of output row r reads slot r * row_step + t * tap_step.
  int64_t slots = 0, pitch = 0, row_step = 0, tap_step = 0;
  bool is_shared = false;  // The slots are consecutive input rows.
  int64_t down = 0, across = 0, count = 0;
};

// The image and group of a block, and the output position at which it begins.
struct Place {
  int64_t image, group, a, b, c;
};

Place place_of(const portable::Convolution& conv, const Blocks& blocks, int64_t index) {
  const auto next = [&](int64_t count) {
    const int64_t at = index % count;
    index /= count;
    return at;
  };
  Place place = {};
  place.c = next(blocks.across) * blocks.columns;
  place.b = next(blocks.down) * blocks.rows;
  place.a = next(conv.out.size[0]);
  place.group = next(conv.groups);
  place.image = index;
  return place;
}

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// The most terms that are added at a time: what a tile reads of the panel fits into the L1 cache.
constexpr int64_t kMostTerms = 512;
constexpr int64_t kMostRows = 8;
constexpr int64_t kMostColumns = 256;
// What it costs to gather a vector of patches instead (conv_dense.cpp), in products of a vector.
constexpr int64_t kGatherCost = 16;

int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// ---- Blocks ----

void choose_slots(const portable::Convolution& conv, Blocks& blocks) {
  const int64_t taps = conv.weight.size[1];
  const int64_t apart = blocks.rows * taps;
  const int64_t shared = (blocks.rows - 1) * conv.stride[1] + (taps - 1) * conv.dilation[1] + 1;
  blocks.is_shared = shared <= apart;
  blocks.slots = blocks.is_shared ? shared : apart;
  blocks.row_step = blocks.is_shared ? conv.stride[1] : taps;
  blocks.tap_step = blocks.is_shared ? conv.dilation[1] : 1;
}

int64_t panel_floats(const portable::Convolution& conv, const Blocks& blocks) {
  return blocks.channels * conv.weight.size[0] * blocks.slots * blocks.pitch;
}

// Makes as many blocks as the threads can share evenly, if they do not get too low.
void even_out(const portable::Convolution& conv, int64_t threads, Blocks& blocks) {
  constexpr int64_t kFewRows = 4;
  const int64_t height = conv.out.size[1];
  const int64_t most = std::max(blocks.down, height / kFewRows);
  const int64_t down = std::min(round_up(blocks.down, threads), most);
  blocks.rows = (height + down - 1) / down;
  blocks.down = (height + blocks.rows - 1) / blocks.rows;
  choose_slots(conv, blocks);
}

// Chooses as many rows as the scratch has room for. Without blocks if there is none even for one,
// or if vectors of products would be too empty, because the rows are short.
Blocks choose(const portable::Convolution& conv, int64_t threads) {
  Blocks blocks;
  const int64_t taps = conv.weight.taps(), width = conv.out.size[2];
  if (conv.stride[2] != 1 || taps == 1) return blocks;
  blocks.columns = std::min(width, kMostColumns);
  const int64_t empty = round_up(blocks.columns, kLanes) - blocks.columns;
  if (conv.group_out() * empty > kGatherCost * blocks.columns) return blocks;
  const int64_t reach = (conv.weight.size[2] - 1) * conv.dilation[2];
  if (reach > kGemmScratchFloats) return blocks;
  blocks.pitch = round_up(blocks.columns, kLanes) + reach;
  const int64_t most = std::max(int64_t{1}, kMostTerms / taps);
  const int64_t parts = (conv.group_in() + most - 1) / most;
  blocks.channels = (conv.group_in() + parts - 1) / parts;
  const int64_t room = kGemmScratchFloats - round_up(blocks.channels * taps, kLanes);
  blocks.rows = std::min(conv.out.size[1], kMostRows);
  for (choose_slots(conv, blocks); panel_floats(conv, blocks) > room; choose_slots(conv, blocks)) {
    if (--blocks.rows == 0) return blocks;
  }
  blocks.down = (conv.out.size[1] + blocks.rows - 1) / blocks.rows;
  blocks.across = (width + blocks.columns - 1) / blocks.columns;
  const int64_t others = conv.batch * conv.groups * conv.out.size[0] * blocks.across;
  if (others % threads != 0) even_out(conv, threads, blocks);
  blocks.count = others * blocks.down;
  return blocks;
}

// ---- The panel ----

// Copies `count` elements of a row of `width`, from element x on; zeros for those outside.
void copy_row(const float* row, int64_t x, int64_t width, float* to, int64_t count) {
  const int64_t begin = std::clamp(-x, int64_t{0}, count);
  const int64_t end = std::clamp(width - x, begin, count);
  std::fill(to, to + begin, 0.0f);
  if (end > begin) {
    std::memcpy(to + begin, row + x + begin, static_cast<size_t>(end - begin) * sizeof(float));
  }
  std::fill(to + end, to + count, 0.0f);
}

// Fills the panel for channels [first, last) of the group.
void fill_panel(const portable::Convolution& conv, const Blocks& blocks, const Place& place,
                int64_t first, int64_t last, float* to) {
  const portable::ConvImage& in = conv.in;
  const int64_t taps = conv.weight.size[1];
  const float* image = static_cast<const float*>(in.data) + place.image * in.batch_stride +
                       place.group * conv.group_in() * in.channel_stride;
  for (int64_t i = first; i < last; ++i) {
    for (int64_t t = 0; t < conv.weight.size[0]; ++t) {
      const int64_t a = place.a * conv.stride[0] - conv.padding[0] + t * conv.dilation[0];
      for (int64_t slot = 0; slot < blocks.slots; ++slot, to += blocks.pitch) {
        const int64_t down =
            blocks.is_shared ? slot : slot / taps * conv.stride[1] + slot % taps * conv.dilation[1];
        const int64_t b = place.b * conv.stride[1] - conv.padding[1] + down;
        if (a < 0 || a >= in.size[0] || b < 0 || b >= in.size[1]) {
          std::fill(to, to + blocks.pitch, 0.0f);
        } else {
          const float* row = image + i * in.channel_stride + a * in.stride[0] + b * in.stride[1];
          copy_row(row, place.c - conv.padding[2], in.size[2], to, blocks.pitch);
        }
      }
    }
  }
}

// Writes the offset in the panel of each channel and tap, in the order of the weights.
void write_offsets(const portable::Convolution& conv, const Blocks& blocks, int64_t channels,
                   int32_t* to) {
  const int64_t(&size)[3] = conv.weight.size;
  for (int64_t slice = 0; slice < channels * size[0]; ++slice) {
    for (int64_t b = 0; b < size[1]; ++b) {
      const int64_t row = slice * blocks.slots + b * blocks.tap_step;
      for (int64_t c = 0; c < size[2]; ++c) {
        *to++ = static_cast<int32_t>(row * blocks.pitch + c * conv.dilation[2]);
      }
    }
  }
}

// ---- Tiles ----

// Some output channels at up to two vectors of positions, each within a row.
struct Tile {
  const float* weights;  // One row for each output channel.
  int64_t weight_stride;
  const int32_t* offsets;
  int64_t terms;
  const float* panel[2];
  float* out[2];  // For the first channel; channels are out_stride apart.
  int64_t counts[2];
  int64_t out_stride;
  const float* bias;  // One for each channel; null: 0.
  bool adds;          // To what `out` contains, instead of the bias.
  Bounds bounds;      // What the sums are clamped to.
};

template <int kRows, int kVectors>
void run_tile(const Tile& tile) {
  Vec sums[kRows][kVectors];
  TAPER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    TAPER_UNROLL
    for (int j = 0; j < kVectors; ++j) sums[i][j] = hn::Zero(kTag);
  }
  const float* weights = tile.weights;
  const int64_t stride = tile.weight_stride;
  for (int64_t k = 0; k < tile.terms; ++k) {
    const int64_t offset = tile.offsets[k];
    Vec inputs[kVectors];
    TAPER_UNROLL
    for (int j = 0; j < kVectors; ++j) inputs[j] = hn::LoadU(kTag, tile.panel[j] + offset);
    TAPER_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const Vec weight = hn::Set(kTag, weights[i * stride + k]);
      TAPER_UNROLL
      for (int j = 0; j < kVectors; ++j) sums[i][j] = hn::MulAdd(weight, inputs[j], sums[i][j]);
    }
  }
  const Vec low = hn::Set(kTag, tile.bounds.low), high = hn::Set(kTag, tile.bounds.high);
  TAPER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    const Vec bias = hn::Set(kTag, tile.bias != nullptr ? tile.bias[i] : 0.0f);
    TAPER_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      float* const out = tile.out[j] + i * tile.out_stride;
      const Vec start = tile.adds ? load_count(out, tile.counts[j]) : bias;
      const Vec sum = hn::Add(sums[i][j], start);
      store_count(at_most(at_least(sum, low), high), out, tile.counts[j]);
    }
  }
}

template <int kRows>
void run_rows(const Tile& tile) {
  tile.counts[1] > 0 ? run_tile<kRows, 2>(tile) : run_tile<kRows, 1>(tile);
}

// The channels of the next tile if `left` are left. A strip and a small rest become two halves.
int64_t strip_of(int64_t left) {
  if (left <= kStripRows || left > kStripRows + kStripRows / 3) return strip_height(left);
  const int64_t half = (left + 1) / 2;
  return half == 7 ? 8 : half;  // There is no strip of 7.
}

void run_strip(int64_t rows, const Tile& tile) {
  with_rows(rows, [&](auto count) HWY_ATTR { run_rows<count>(tile); });
}

// ---- The loops ----

// Sets vector j of the tile to piece `index` of the block: positions of one row, at most a vector.
void set_piece(const portable::Convolution& conv, const Blocks& blocks, const Place& place,
               int64_t index, const float* panel, int j, Tile& tile) {
  const int64_t columns = std::min(blocks.columns, conv.out.size[2] - place.c);
  const int64_t each = (columns + kLanes - 1) / kLanes;
  const int64_t row = index / each, column = index % each * kLanes;
  const int64_t rows = std::min(blocks.rows, conv.out.size[1] - place.b);
  tile.counts[j] = row < rows ? std::min(kLanes, columns - column) : 0;
  if (tile.counts[j] == 0) return;
  tile.panel[j] = panel + row * blocks.row_step * blocks.pitch + column;
  const int64_t position =
      (place.a * conv.out.size[1] + place.b + row) * conv.out.size[2] + place.c + column;
  tile.out[j] = static_cast<float*>(conv.out.data) + place.image * conv.out.batch_stride +
                place.group * conv.group_out() * conv.out.channel_stride + position;
}

void multiply_block(const portable::Convolution& conv, const Blocks& blocks, const Place& place,
                    const float* panel, Tile tile) {
  const int64_t channels = conv.group_out();
  for (int64_t index = 0;; index += 2) {
    for (int j = 0; j < 2; ++j) set_piece(conv, blocks, place, index + j, panel, j, tile);
    if (tile.counts[0] == 0) return;
    Tile strip = tile;
    int64_t rows;
    for (int64_t o = 0; o < channels; o += rows) {
      rows = strip_of(channels - o);
      run_strip(rows, strip);
      strip.weights += rows * strip.weight_stride;
      if (strip.bias != nullptr) strip.bias += rows;
      for (float*& out : strip.out) out += out != nullptr ? rows * strip.out_stride : 0;
    }
  }
}

}  // namespace

Blocks blocks_form(const portable::Convolution& conv, int64_t threads) {
  return choose(conv, threads);
}

void block_form(const portable::Convolution& conv, const Bounds& bounds, const Blocks& blocks,
                int64_t index, float* scratch) {
  const Place place = place_of(conv, blocks, index);
  const int64_t taps = conv.weight.taps();
  auto* const offsets = reinterpret_cast<int32_t*>(scratch);
  float* const panel = scratch + round_up(blocks.channels * taps, kLanes);
  write_offsets(conv, blocks, blocks.channels, offsets);
  const int64_t first_out = place.group * conv.group_out();
  Tile tile = {};
  tile.weight_stride = conv.group_in() * taps;
  tile.offsets = offsets;
  tile.out_stride = conv.out.channel_stride;
  if (conv.bias != nullptr) tile.bias = conv.bias->const_data_ptr<float>() + first_out;
  for (int64_t i = 0; i < conv.group_in(); i += blocks.channels) {
    const int64_t last = std::min(conv.group_in(), i + blocks.channels);
    fill_panel(conv, blocks, place, i, last, panel);
    tile.weights =
        static_cast<const float*>(conv.weight.data) + first_out * tile.weight_stride + i * taps;
    tile.terms = (last - i) * taps;
    tile.adds = i > 0;
    if (last == conv.group_in()) tile.bounds = bounds;
    multiply_block(conv, blocks, place, panel, tile);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {

bool convolve_direct(const portable::Convolution& conv, const Bounds& bounds,
                     KernelContext& context) {
  using BlocksForm = Blocks (*)(const portable::Convolution&, int64_t);
  using BlockForm =
      void (*)(const portable::Convolution&, const Bounds&, const Blocks&, int64_t, float*);
  const BlocksForm blocks_of = TAPER_CHOOSE(BlocksForm, blocks_form);
  const BlockForm compute = TAPER_CHOOSE(BlockForm, block_form);
  if (blocks_of == nullptr || conv.transposed) return false;
  const ThreadPool& pool = context.pool();
  const Blocks blocks = blocks_of(conv, pool.run == nullptr ? 1 : std::max(1u, pool.threads));
  if (blocks.count == 0) return false;
  const int64_t work = conv.group_out() * conv.group_in() * conv.weight.taps() * blocks.rows *
                       blocks.columns / kMultiplicationsPerUnit;
  bool has_room = true;
  for_parts_with_scratch(context, blocks.count, work, kGemmScratchFloats,
                         [&](int64_t begin, int64_t end, Span<float> scratch) {
                           if (scratch.size() == 0) {  // Then this is the only part.
                             has_room = false;
                             return;
                           }
                           for (int64_t i = begin; i < end; ++i) {
                             compute(conv, bounds, blocks, i, scratch.data());
                           }
                         });
  return has_room;
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
