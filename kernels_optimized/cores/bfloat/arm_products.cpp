// Products of bfloat16 by BFDOT, which adds two products to each of four sums; ARMv8.6 has it, and
// some processors before. Assembly, since compilers have its intrinsics only for files that are
// compiled for such processors.

#include "kernels_optimized/cores/bfloat/native_products.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include <algorithm>

#include "kernels_optimized/engine/arm_features.h"

#if defined(__clang__)
#define TAPER_BFDOT __attribute__((target("bf16")))
#else
#define TAPER_BFDOT __attribute__((target("+bf16")))
#endif

namespace taper::optimized {
namespace {

// A tile has 4 rows and 4 vectors of sums.
constexpr int64_t kTileRows = 4;
constexpr int64_t kVectors = 4;
constexpr int64_t kTileColumns = 4 * kVectors;
constexpr int64_t kTerms = 8;  // Of a row in a vector.

// Adds to each sum both products of a column's pair and pair kPair of the row.
template <int kPair>
TAPER_BFDOT inline void add_pair(float32x4_t& sum, uint16x8_t columns, uint16x8_t row) {
  asm volatile("bfdot %0.4s, %1.8h, %2.2h[%3]" : "+w"(sum) : "w"(columns), "w"(row), "i"(kPair));
}

using Sums = float32x4_t[kTileRows][kVectors];

template <int kPair>
TAPER_BFDOT __attribute__((always_inline)) inline void add_pairs(
    Sums& sums, const uint16_t* weights, const uint16x8_t (&rows)[kTileRows]) {
  weights += kPair * 2 * kBfloatColumns;
#pragma GCC unroll 4
  for (int64_t v = 0; v < kVectors; ++v) {
    // Compilers would load them all at once, and have no registers left for the sums.
    uint16x8_t columns;
    asm volatile("ldr %q0, %1"
                 : "=w"(columns)
                 : "m"(*reinterpret_cast<const uint16x8_t*>(weights + 8 * v)));
#pragma GCC unroll 4
    for (int64_t i = 0; i < kTileRows; ++i) add_pair<kPair>(sums[i][v], columns, rows[i]);
  }
}

// NaN stays NaN, as no comparison with it is true.
inline float32x4_t limited(float32x4_t value, float32x4_t min, float32x4_t max) {
  const float32x4_t above = vbslq_f32(vcltq_f32(value, min), min, value);
  return vbslq_f32(vcgtq_f32(above, max), max, above);
}

using Results = float[kTileRows][kTileColumns];

void store(const BfloatProduct& p, int64_t row, int64_t column, Results& results) {
  const float32x4_t min = vdupq_n_f32(p.min), max = vdupq_n_f32(p.max);
  float bias[kTileColumns] = {};
  const int64_t columns = std::min(p.columns - column, kTileColumns);
  if (p.bias != nullptr) std::copy_n(p.bias + column, columns, bias);
  for (int64_t i = 0; i < std::min(p.row_count - row, kTileRows); ++i) {
    for (int64_t c = 0; c < kTileColumns; c += 4) {
      const float32x4_t sum = vaddq_f32(vld1q_f32(results[i] + c), vld1q_f32(bias + c));
      vst1q_f32(results[i] + c, limited(sum, min, max));
    }
    std::copy_n(results[i], columns, p.out + (row + i) * p.out_step + column);
  }
}

// Rows [row, row + 4), of which the last may be missing: their memory belongs to the panel.
TAPER_BFDOT void multiply_tile(const BfloatProduct& p, int64_t row, int64_t column) {
  const uint16_t* rows = p.rows + bfloat_row_place(row, p.terms);
  const uint16_t* weights =
      p.weights + column / kBfloatColumns * kBfloatColumns * p.terms + column % kBfloatColumns * 2;
  Sums sums;
#pragma GCC unroll 4
  for (int64_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVectors; ++v) sums[i][v] = vdupq_n_f32(0);
  }
  for (int64_t piece = 0; piece < p.terms; piece += kBfloatTerms, rows += kBfloatPiece) {
    for (int64_t k = 0; k < kBfloatTerms; k += kTerms, weights += kTerms * kBfloatColumns) {
      uint16x8_t factors[kTileRows];
#pragma GCC unroll 4
      for (int64_t i = 0; i < kTileRows; ++i) factors[i] = vld1q_u16(rows + i * kBfloatTerms + k);
      add_pairs<0>(sums, weights, factors);
      add_pairs<1>(sums, weights, factors);
      add_pairs<2>(sums, weights, factors);
      add_pairs<3>(sums, weights, factors);
    }
  }
  // A copy, since an array whose address is taken is not kept in registers.
  Results results;
#pragma GCC unroll 4
  for (int64_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVectors; ++v) vst1q_f32(results[i] + 4 * v, sums[i][v]);
  }
  store(p, row, column, results);
}

}  // namespace

bool has_bfloat_pairs() { return has_bfdot(); }

void multiply_pairs(const BfloatProduct& product, int64_t begin, int64_t end) {
  const int64_t last = std::min(end * kBfloatColumns, product.columns);
  for (int64_t column = begin * kBfloatColumns; column < last; column += kTileColumns) {
    for (int64_t row = 0; row < product.row_count; row += kTileRows) {
      multiply_tile(product, row, column);
    }
  }
}

}  // namespace taper::optimized

#endif
