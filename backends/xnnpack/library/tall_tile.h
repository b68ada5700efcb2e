// Matrix products and convolutions of floats with tall register tiles. They are compiled into
// XNNPACK in place of its own microkernels and have the same interface.
//
// XNNPACK's tiles leave half of the vector registers empty (7 x 32 with AVX-512, 5 x 16 with AVX2):
// a step of the innermost loop loads nearly as much as it multiplies. These fill the registers. A
// convolution reads each row through a pointer, so its height is also limited by the general
// registers. The last rows and columns are computed by shorter and narrower tiles of the same code;
// XNNPACK's kernels compute rows twice and columns that are not needed.
//
// A layer reads its weights once, mostly from memory, which is slow. So while all rows use one
// block of weights, the following block is prefetched into the cache, a share by each tile of rows.
// In a file of packed weights layers are adjacent, so the last block of one prefetches the first of
// the next.
//
// A file that includes this must first define `Vector` and its operations. Packed weights have
// XNNPACK's layout: for every kPanel columns the biases, then a row for each step.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "backends/xnnpack/library/row_turn.h"
#include "xnnpack/microparams.h"

namespace {

constexpr int kLanes = sizeof(Vector) / sizeof(float);
constexpr int kVectors = 2;
constexpr size_t kPanel = kVectors * kLanes;

template <typename T>
T* advance(T* pointer, size_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(pointer) + bytes);
}

// Prefetches a share of the block of weights that follows the current one, one address for each
// step of the innermost loop: often a cache line that another step fetches too, which costs
// nothing.
class Ahead {
 public:
  Ahead(const float* block, size_t bytes) : next_(reinterpret_cast<const char*>(block)) {
    const size_t tiles = taper_row_turn.tiles;
    if (tiles < 2) return;
    next_ += bytes + bytes / tiles * taper_row_turn.tile;
    step_bytes_ = (kPanel * sizeof(float) + tiles - 1) / tiles;
  }

  [[gnu::always_inline]] void fetch() {
    __builtin_prefetch(next_, 0, 2);
    next_ += step_bytes_;
  }

 private:
  const char* next_;
  size_t step_bytes_ = 0;
};

// The size of the packed weights of the columns.
constexpr size_t block_bytes(size_t columns, size_t steps) {
  return (columns + kPanel - 1) / kPanel * (steps + 1) * kPanel * sizeof(float);
}

// The destination of a tile's results, of which at most `columns` per row are stored.
struct Result {
  float* c;
  size_t row_bytes;
  size_t columns;
  const xnn_f32_minmax_params* limits;
};

// A register tile of kRows rows of kWidth vectors.
template <int kRows, int kWidth>
struct Tile {
  Vector sums[kRows][kWidth];

  [[gnu::always_inline]] explicit Tile(const float* biases) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i) {
#pragma clang loop unroll(full)
      for (int j = 0; j < kWidth; ++j) sums[i][j] = load(biases + j * kLanes);
    }
  }

  // Adds the products of the elements of each row and the rows of the weights. row(i) is the start
  // of row i.
  template <typename Row>
  [[gnu::always_inline]] void add(Row row, const float* weights, size_t steps, Ahead& ahead) {
    for (size_t k = 0; k < steps; ++k, weights += kPanel) {
      ahead.fetch();
      Vector factors[kWidth];
#pragma clang loop unroll(full)
      for (int j = 0; j < kWidth; ++j) factors[j] = load(weights + j * kLanes);
#pragma clang loop unroll(full)
      for (int i = 0; i < kRows; ++i) {
        const Vector factor = splat(row(i) + k);
#pragma clang loop unroll(full)
        for (int j = 0; j < kWidth; ++j) sums[i][j] = multiply_add(factor, factors[j], sums[i][j]);
      }
    }
  }

  [[gnu::always_inline]] void finish(const Result& result) const {
    constexpr size_t kWhole = (kWidth - 1) * kLanes;
    const Vector min = splat(&result.limits->scalar.min);
    const Vector max = splat(&result.limits->scalar.max);
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i) {
      float* c = advance(result.c, i * result.row_bytes);
#pragma clang loop unroll(full)
      for (int j = 0; j + 1 < kWidth; ++j) {
        store(c + j * kLanes, clamp(sums[i][j], min, max));
      }
      store_some(c + kWhole, clamp(sums[i][kWidth - 1], min, max), result.columns - kWhole);
    }
  }
};

// Calls run(result, width) for each panel of the result; width is its number of vectors.
template <typename Run>
[[gnu::always_inline]] inline void for_panels(Result result, size_t columns, size_t panel_bytes,
                                              Run run) {
  for (;;) {
    result.columns = columns < kPanel ? columns : kPanel;
    if (result.columns > kLanes) {
      run(result, std::integral_constant<int, 2>());
    } else {
      run(result, std::integral_constant<int, 1>());
    }
    if (columns <= kPanel) return;
    columns -= kPanel;
    result.c = advance(result.c, panel_bytes);
  }
}

// XNNPACK's arguments, in its order. All sizes are in bytes, except `rows` and `columns`.
using Gemm = void(size_t rows, size_t columns, size_t depth_bytes, const float* a, size_t a_bytes,
                  const float* weights, float* c, size_t row_bytes, size_t panel_bytes,
                  const xnn_f32_minmax_params* limits);

template <int kRows>
void gemm(size_t, size_t columns, size_t depth_bytes, const float* a, size_t a_bytes,
          const float* weights, float* c, size_t row_bytes, size_t panel_bytes,
          const xnn_f32_minmax_params* limits) {
  const size_t steps = depth_bytes / sizeof(float);
  const Result first = {c, row_bytes, 0, limits};
  Ahead ahead(weights, block_bytes(columns, steps));
  for_panels(first, columns, panel_bytes, [&](const Result& result, auto width) {
    Tile<kRows, width> tile(weights);
    tile.add([&](int i) { return advance(a, i * a_bytes); }, weights + kPanel, steps, ahead);
    tile.finish(result);
    weights += (steps + 1) * kPanel;
  });
}

// There is a pointer for each tap of the window and each of kHeight rows, in `pointers`, with those
// of a tap together. `offset` is added to all but those to `zeros`. `channel_bytes` are read
// through each.
using Igemm = void(size_t rows, size_t columns, size_t channel_bytes, size_t pointer_bytes,
                   const float** pointers, const float* weights, float* c, size_t row_bytes,
                   size_t panel_bytes, size_t offset, const float* zeros,
                   const xnn_f32_minmax_params* limits);

template <int kRows, int kHeight>
void igemm(size_t, size_t columns, size_t channel_bytes, size_t pointer_bytes,
           const float** pointers, const float* weights, float* c, size_t row_bytes,
           size_t panel_bytes, size_t offset, const float* zeros,
           const xnn_f32_minmax_params* limits) {
  const size_t steps = channel_bytes / sizeof(float);
  const float** end = advance(pointers, pointer_bytes);
  const Result first = {c, row_bytes, 0, limits};
  const size_t places = pointer_bytes / sizeof(*pointers) / kHeight;
  Ahead ahead(weights, block_bytes(columns, places * steps));
  for_panels(first, columns, panel_bytes, [&](const Result& result, auto width) {
    Tile<kRows, width> tile(weights);
    weights += kPanel;
    for (const float** place = pointers; place < end; place += kHeight) {
      const float* rows[kRows];
#pragma clang loop unroll(full)
      for (int i = 0; i < kRows; ++i) {
        rows[i] = place[i] == zeros ? zeros : advance(place[i], offset);
      }
      tile.add([&](int i) { return rows[i]; }, weights, steps, ahead);
      weights += steps * kPanel;
    }
    tile.finish(result);
  });
}

// The functions for each number of rows.
template <typename Height>
struct Tiles;
template <int... kRows>
struct Tiles<std::integer_sequence<int, kRows...>> {
  static constexpr Gemm* kGemm[] = {gemm<kRows + 1>...};
  static constexpr Igemm* kIgemm[] = {igemm<kRows + 1, sizeof...(kRows)>...};
};
template <int kHeight>
using TilesUpTo = Tiles<std::make_integer_sequence<int, kHeight>>;

}  // namespace

#define TAPER_F32_GEMM(name, kHeight)                                                         \
  void name(size_t mr, size_t nc, size_t kc, const float* a, size_t a_stride, const float* w, \
            float* c, size_t cm_stride, size_t cn_stride,                                     \
            const union xnn_f32_minmax_params* params) {                                      \
    TilesUpTo<kHeight>::kGemm[mr - 1](mr, nc, kc, a, a_stride, w, c, cm_stride, cn_stride,    \
                                      params);                                                \
  }

#define TAPER_F32_IGEMM(name, kHeight)                                                             \
  void name(size_t mr, size_t nc, size_t kc, size_t ks, const float** a, const float* w, float* c, \
            size_t cm_stride, size_t cn_stride, size_t a_offset, const float* zero,                \
            const union xnn_f32_minmax_params* params) {                                           \
    TilesUpTo<kHeight>::kIgemm[mr - 1](mr, nc, kc, ks, a, w, c, cm_stride, cn_stride, a_offset,    \
                                       zero, params);                                              \
  }
