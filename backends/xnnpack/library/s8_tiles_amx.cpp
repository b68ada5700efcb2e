// Matrix products and convolutions of int8 by the processor's matrix unit (AMX). They are compiled
// into XNNPACK in place of its own microkernels and have the same interface.
//
// The unit has eight tiles of 16 rows of 64 bytes. Four hold sums, 32 rows by 32 columns of int32;
// two hold 64 steps of the rows, two hold 64 steps of the columns' weights. So four products take
// four loads; with a single row of tiles they would take five, and read the weights twice as often.
//
// A tile is loaded from rows with a constant stride. The rows of a product have one; those of a
// convolution are gathered first (s8_window.h). Steps are processed in slabs, so that those of the
// rows stay in the first-level cache for all columns; between slabs the sums are stored.
//
// Packed weights have XNNPACK's layout: for every 32 columns an int32 each, their biases or the
// sums of their weights, then for every four steps 32 x 4 weights, then the scales.

#include "backends/xnnpack/library/s8_tiles.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/xnnpack/library/row_turn.h"
#include "backends/xnnpack/library/s8_panels.h"
#include "backends/xnnpack/library/s8_results.h"
#include "backends/xnnpack/library/s8_window.h"

namespace {

constexpr size_t kTileRows = 16;
constexpr size_t kRows = 2 * kTileRows;
constexpr size_t kColumns = 32;

using Sums = int32_t[kRows][kColumns];

// Configures the tiles: 0 to 3 are sums, 4 and 5 steps of the upper and lower rows, 6 and 7 weights
// of the left and right columns.
void configure(size_t rows, size_t steps) {
  struct alignas(64) Layout {
    uint8_t palette = 1;
    uint8_t start_row = 0;
    uint8_t reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {};
  } layout;
  const auto upper = static_cast<uint8_t>(std::min(rows, kTileRows));
  const auto lower = static_cast<uint8_t>(rows > kTileRows ? rows - kTileRows : 1);
  const auto depth = static_cast<uint8_t>(std::min(steps, kChunk));
  layout.rows[0] = layout.rows[1] = layout.rows[4] = upper;
  layout.rows[2] = layout.rows[3] = layout.rows[5] = lower;
  layout.rows[6] = layout.rows[7] = depth / 4;
  layout.row_bytes[4] = layout.row_bytes[5] = depth;
  _tile_loadconfig(&layout);
}

// Prefetches a share of the block of weights that follows the current one. If only a few tiles use
// a block, the shares would be so large that prefetching them delays the current block.
class Ahead {
 public:
  Ahead(const void* block, size_t bytes) : next_(static_cast<const char*>(block)) {
    const size_t tiles = taper_row_turn.tiles;
    if (tiles < 4) return;
    next_ += bytes + bytes / tiles * taper_row_turn.tile;
    chunk_bytes_ = (kChunk * kColumns + tiles - 1) / tiles;
  }

  [[gnu::always_inline]] void fetch() {
    const char* end = next_ + chunk_bytes_;
    for (const char* line = next_; line < end; line += 64) __builtin_prefetch(line, 0, 2);
    next_ = end;
  }

 private:
  const char* next_;
  size_t chunk_bytes_ = 0;
};

template <bool kLower, bool kRight>
[[gnu::always_inline]] inline void add_chunk(const int8_t* rows, size_t row_bytes,
                                             const int8_t* weights) {
  _tile_loadd(4, rows, row_bytes);
  _tile_loadd(6, weights, 4 * kColumns);
  _tile_dpbssd(0, 4, 6);
  if (kRight) {
    _tile_loadd(7, weights + 64, 4 * kColumns);
    _tile_dpbssd(1, 4, 7);
  }
  if (kLower) {
    _tile_loadd(5, rows + kTileRows * row_bytes, row_bytes);
    _tile_dpbssd(2, 5, 6);
    if (kRight) _tile_dpbssd(3, 5, 7);
  }
}

// Adds the products of steps from `first` on to the sums of a panel, which start as zeros.
template <bool kLower, bool kRight>
void add_steps(const Steps& steps, size_t first, const int8_t* weights, Sums& sums, Ahead& ahead) {
  constexpr size_t kStride = sizeof(sums[0]);
  if (first == 0) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_loadd(0, sums[0], kStride);
    if (kRight) _tile_loadd(1, sums[0] + kTileRows, kStride);
    if (kLower) _tile_loadd(2, sums[kTileRows], kStride);
    if (kLower && kRight) _tile_loadd(3, sums[kTileRows] + kTileRows, kStride);
  }
  const int8_t* rows = steps.rows;
  const int8_t* chunk = weights + first * kColumns;
  for (size_t i = 0; i < steps.chunks; ++i) {
    ahead.fetch();
    add_chunk<kLower, kRight>(rows, steps.row_bytes, chunk);
    rows += kChunk;
    chunk += kChunk * kColumns;
  }
  if (steps.rest != nullptr) {
    ahead.fetch();
    add_chunk<kLower, kRight>(steps.rest, kChunk, weights + steps.rest_step * kColumns);
  }
  _tile_stored(0, sums[0], kStride);
  if (kRight) _tile_stored(1, sums[0] + kTileRows, kStride);
  if (kLower) _tile_stored(2, sums[kTileRows], kStride);
  if (kLower && kRight) _tile_stored(3, sums[kTileRows] + kTileRows, kStride);
}

// The same for a single row, which would leave most of the unit unused, with products of four bytes
// (VNNI). They need one unsigned factor, so 128 is added to steps, and what that contributes is
// summed separately and subtracted.
class RowSums {
 public:
  // Starts with the sums of the previous steps, if there are any.
  RowSums(const int32_t* sums, size_t first) {
    if (first == 0) return;
    even_.left = _mm512_load_si512(sums);
    even_.right = _mm512_load_si512(sums + kTileRows);
  }

  void add(const int8_t* row, size_t steps, const int8_t* weights) {
    size_t k = 0;
    for (; k + 4 < steps; k += 8) {
      even_.add(row + k, weights + k * kColumns);
      odd_.add(row + k + 4, weights + (k + 4) * kColumns);
    }
    if (k < steps) even_.add(row + k, weights + k * kColumns);
  }

  void store(int32_t* to) const {
    const auto all = [](__m512i even, __m512i odd, __m512i even_more, __m512i odd_more) {
      return _mm512_sub_epi32(_mm512_add_epi32(even, odd), _mm512_add_epi32(even_more, odd_more));
    };
    _mm512_store_si512(to, all(even_.left, odd_.left, even_.left_more, odd_.left_more));
    _mm512_store_si512(to + kTileRows,
                       all(even_.right, odd_.right, even_.right_more, odd_.right_more));
  }

 private:
  struct Part {
    __m512i left = {}, right = {}, left_more = {}, right_more = {};

    [[gnu::always_inline]] void add(const int8_t* steps, const int8_t* weights) {
      const __m512i offset = _mm512_set1_epi8(-128);
      int32_t four;
      std::memcpy(&four, steps, sizeof(four));
      const __m512i factors = _mm512_xor_si512(_mm512_set1_epi32(four), offset);
      const __m512i left_weights = _mm512_loadu_si512(weights);
      const __m512i right_weights = _mm512_loadu_si512(weights + 4 * kTileRows);
      left = _mm512_dpbusd_epi32(left, factors, left_weights);
      right = _mm512_dpbusd_epi32(right, factors, right_weights);
      left_more = _mm512_dpbusd_epi32(left_more, offset, left_weights);
      right_more = _mm512_dpbusd_epi32(right_more, offset, right_weights);
    }
  };

  Part even_, odd_;
};

void add_row(const Steps& steps, size_t first, const int8_t* weights, Sums& sums, Ahead&) {
  RowSums row(sums[0], first);
  row.add(steps.rows, steps.chunks * steps.chunk_steps, weights + first * kColumns);
  if (steps.rest != nullptr) {
    row.add(steps.rest, steps.chunk_steps, weights + steps.rest_step * kColumns);
  }
  row.store(sums[0]);
}

using AddSteps = decltype(add_row);

AddSteps* add_steps_of(size_t rows, size_t columns) {
  if (rows == 1) return add_row;
  if (rows <= kTileRows)
    return columns > kTileRows ? add_steps<false, true> : add_steps<false, false>;
  return columns > kTileRows ? add_steps<true, true> : add_steps<true, false>;
}

// The steps of a matrix, which are used in place. The rest of a row after its last whole chunk is
// copied to a chunk that starts with zeros for the steps before it.
class Matrix {
 public:
  static constexpr size_t kPanels = 4;

  Matrix(const int8_t* rows, size_t row_bytes, size_t count, size_t bytes)
      : rows_(rows), row_bytes_(row_bytes), whole_(bytes / kChunk * kChunk) {
    const size_t steps = round_up_4(bytes);
    chunk_steps_ = std::min(steps, kChunk);
    if (whole_ == steps) return;
    rest_step_ = steps > kChunk ? steps - kChunk : 0;
    const __mmask64 wanted = ones(bytes - rest_step_) & ~ones(whole_ - rest_step_);
    for (size_t i = 0; i < count; ++i) {
      const __m512i last = _mm512_maskz_loadu_epi8(wanted, rows + i * row_bytes + rest_step_);
      _mm512_store_si512(rest_ + i * kChunk, last);
    }
  }

  Steps some(size_t first, size_t steps) const {
    const bool last = first + steps > whole_;
    const size_t chunks = (last ? whole_ - first : steps) / kChunk;
    return {rows_ + first, row_bytes_, chunks, chunk_steps_, last ? rest_ : nullptr, rest_step_};
  }

 private:
  const int8_t* rows_;
  size_t row_bytes_;
  size_t whole_;
  size_t chunk_steps_;
  size_t rest_step_ = 0;
  alignas(64) int8_t rest_[kRows * kChunk];
};

RowOfSums load(const int32_t* sums) {
  return {_mm512_load_si512(sums), _mm512_load_si512(sums + kTileRows)};
}

void store(const Int8Results& results, const Sums& sums, size_t rows, size_t columns,
           const Panel& panel, int8_t* c, size_t row_bytes) {
  for (size_t i = 0; i < rows; i += 2, c += 2 * row_bytes) {
    results.store(load(sums[i]), load(sums[i + 1]), i + 1 < rows, columns, panel, c, row_bytes);
  }
}

void store(const FloatResults& results, const Sums& sums, size_t rows, size_t columns,
           const Panel& panel, float* c, size_t row_bytes) {
  for (size_t i = 0; i < rows; ++i) {
    results.store(load(sums[i]), i, columns, panel, advance(c, i * row_bytes));
  }
}

// Computes all columns of a few rows, Rows::kPanels panels at a time: first the products, then the
// results, so that neither waits for the other.
template <typename Rows, typename Results>
void multiply(size_t rows, size_t columns, size_t steps, Rows& source, const void* weights,
              Place<typename Results::Result> place, const Results& results) {
  const Panels<kColumns, Results> panels(weights, steps);
  Ahead ahead(weights, (columns + kColumns - 1) / kColumns * panels.bytes());
  alignas(64) Sums sums[Rows::kPanels];
  constexpr size_t kGroup = Rows::kPanels * kColumns;
  if (rows > 1) configure(rows, steps);
  for (size_t begin = 0; begin < columns; begin += kGroup) {
    const size_t end = std::min(columns, begin + kGroup);
    for (size_t step = 0; step < steps; step += kSlab) {
      const Steps slab = source.some(step, std::min(steps - step, kSlab));
      for (size_t j = begin; j < end; j += kColumns) {
        AddSteps* const add = add_steps_of(rows, end - j);
        add(slab, step, panels.at(j).weights, sums[(j - begin) / kColumns], ahead);
      }
    }
    for (size_t j = begin; j < end; j += kColumns) {
      store(results, sums[(j - begin) / kColumns], rows, std::min(end - j, kColumns), panels.at(j),
            advance(place.c, j / kColumns * place.panel_bytes), place.row_bytes);
    }
  }
  if (rows > 1) _tile_release();
}

template <typename Results>
void gemm(size_t rows, size_t columns, size_t bytes, const int8_t* a, size_t a_bytes,
          const void* weights, const Place<typename Results::Result>& place,
          const Results& results) {
  Matrix matrix(a, a_bytes, rows, bytes);
  multiply(rows, columns, round_up_4(bytes), matrix, weights, place, results);
}

// `pointer_bytes` is the size of all pointers.
template <size_t kHeight, typename Results>
void igemm(size_t rows, size_t columns, size_t channels, size_t pointer_bytes, const Pixels& pixels,
           const void* weights, const Place<typename Results::Result>& place,
           const Results& results) {
  const size_t places = pointer_bytes / sizeof(void*) / kHeight;
  Window<kHeight> window(pixels, rows, channels);
  multiply(rows, columns, places * round_up_4(channels), window, weights, place, results);
}

}  // namespace

void taper_qs8_gemm_32x32c4__amx(size_t mr, size_t nc, size_t kc, const int8_t* a, size_t a_stride,
                                 const void* w, int8_t* c, size_t cm_stride, size_t cn_stride,
                                 const union xnn_qs8_qc8w_conv_minmax_params* params) {
  gemm(mr, nc, kc, a, a_stride, w, {c, cm_stride, cn_stride}, Int8Results(params));
}

void taper_qd8_f32_gemm_32x32c4__amx(size_t mr, size_t nc, size_t kc, const int8_t* a,
                                     size_t a_stride, const void* w, float* c, size_t cm_stride,
                                     size_t cn_stride, const union xnn_f32_minmax_params* params,
                                     const struct xnn_qd8_quantization_params* rows) {
  gemm(mr, nc, kc, a, a_stride, w, {c, cm_stride, cn_stride}, FloatResults(params, rows, 1));
}

#define TAPER_QS8_IGEMM(name, kHeight)                                                          \
  void name(size_t mr, size_t nc, size_t kc, size_t ks, const int8_t** a, const void* w,        \
            int8_t* c, size_t cm_stride, size_t cn_stride, size_t a_offset, const int8_t* zero, \
            const union xnn_qs8_qc8w_conv_minmax_params* params) {                              \
    igemm<kHeight>(mr, nc, kc, ks, {a, a_offset, zero, zero}, w, {c, cm_stride, cn_stride},     \
                   Int8Results(params));                                                        \
  }

#define TAPER_QD8_IGEMM(name, kHeight)                                                             \
  void name(size_t mr, size_t nc, size_t kc, size_t ks, const int8_t** a, const void* w, float* c, \
            size_t cm_stride, size_t cn_stride, size_t a_offset, const int8_t* zero,               \
            const int8_t* zero_data, const union xnn_f32_minmax_params* params,                    \
            const struct xnn_qd8_quantization_params* image) {                                     \
    igemm<kHeight>(mr, nc, kc, ks, {a, a_offset, zero, zero_data}, w, {c, cm_stride, cn_stride},   \
                   FloatResults(params, image, 0));                                                \
  }

TAPER_QS8_IGEMM(taper_qs8_igemm_32x32c4__amx, 32)
TAPER_QS8_IGEMM(taper_qs8_igemm_1x32c4__amx, 1)
TAPER_QD8_IGEMM(taper_qd8_f32_igemm_32x32c4__amx, 32)
TAPER_QD8_IGEMM(taper_qd8_f32_igemm_1x32c4__amx, 1)
