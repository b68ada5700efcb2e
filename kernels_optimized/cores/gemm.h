// The product of two matrices of floats: packed panels, tiles in registers, tails without reads
// past the end. mm, bmm, addmm, linear and convolution are built on it.
//
//     out[m, n] = alpha * sum over k of left[m, k] * right[k, n]  +  beta * added[m, n]
//
// The loops, from the outermost: blocks of columns; blocks of depth, for each of which a block of
// the right operand is packed into panels as wide as a tile; strips of rows; the panels. A tile is
// 12 x 32 with AVX-512, 6 x 16 with AVX2, 8 x 8 with Neon. If there are few rows nothing is packed:
// the right operand is read once, in memory order.

#pragma once

#include <cstdint>

#include "kernels_optimized/cores/bounds.h"
#include "taper/span.h"
#include "taper/thread_pool.h"

namespace taper::optimized {

// Element (i, j) is data[i * row_stride + j * column_stride].
struct FloatMatrix {
  const float* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// A right operand that is not stored as a matrix. pack() writes rows [k, k + depth) of columns
// [n, n + columns) to `to`, with rows `stride` floats apart; stride >= columns.
struct PackedRight {
  void (*pack)(const void* source, int64_t k, int64_t depth, int64_t n, int64_t columns, float* to,
               int64_t stride) = nullptr;
  const void* source = nullptr;
  int64_t first = 0;  // The column of the source that is column 0 of the product.
};

// What pack_panels() wrote of a right operand of that size.
struct Panels {
  const float* data = nullptr;
  int64_t depth = 0;
  int64_t columns = 0;
};

struct Gemm {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  FloatMatrix left;
  FloatMatrix right;
  float* out = nullptr;  // Rows are contiguous, `out_stride` apart.
  int64_t out_stride = 0;
  float alpha = 1;
  float beta = 1;
  FloatMatrix added = {};  // Not read if data is null or beta is 0. Must not overlap with out.
  Bounds bounds = {};      // What the results are clamped to.
  PackedRight packed_right = {};  // Replaces `right` if pack is not null.
  // Replaces `right` if its data is not null; the first rows and columns of it are used. Then rows
  // of `left` are contiguous, and no scratch is needed.
  Panels panels = {};
};

// The amount of scratch, per thread, beyond which more does not help. Any amount works; if it is
// less than 32 KB, the stack is used instead.
inline constexpr int64_t kGemmScratchFloats = int64_t{72} << 10;

// For several products with the same right operand: packs it once. `to` has panel_floats() floats.
// REQUIRES: has_vectors().
int64_t panel_floats(int64_t depth, int64_t columns);
Panels pack_panels(const FloatMatrix& right, int64_t depth, int64_t columns, float* to);

// True if there is a vector form of this library's functions for this processor.
bool has_vectors();

// Computes the product. Returns false, having written nothing, if this processor has no vector
// form. REQUIRES: sizes >= 0, out does not overlap with the operands, no other thread uses scratch.
bool gemm(const Gemm& problem, Span<float> scratch);
// The same on several threads: at most as many as there are kGemmScratchFloats in scratch.
bool gemm(const Gemm& problem, Span<float> scratch, const ThreadPool& pool);

}  // namespace taper::optimized
