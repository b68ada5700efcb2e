// The product of two matrices of floats: packed panels, tiles in registers, tails without reads
// past the end. What mm, bmm, addmm, linear and convolution stand on.
//
//     out[m, n] = alpha * sum over k of left[m, k] * right[k, n]  +  beta * added[m, n]
//
// The loops, from the outside: blocks of columns; blocks of depth, for which a block of the right
// operand is packed into panels as wide as a tile; strips of rows; the panels. A tile is 12 x 32
// with AVX-512, 6 x 16 with AVX2, 8 x 8 with Neon. With few rows nothing is packed: the right
// operand is read once, in the order in which it lies.

#pragma once

#include <cstdint>

#include "taper/span.h"
#include "taper/thread_pool.h"

namespace taper::optimized {

// Element (i, j) is data[i * row_stride + j * column_stride].
struct FloatMatrix {
  const float* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// A right operand that does not lie in memory. pack() writes rows [k, k + depth) of columns
// [n, n + columns) to `to`, `stride` floats from row to row; stride >= columns.
struct PackedRight {
  void (*pack)(const void* source, int64_t k, int64_t depth, int64_t n, int64_t columns, float* to,
               int64_t stride) = nullptr;
  const void* source = nullptr;
  int64_t first = 0;  // Column 0 of the product is this one of the source.
};

struct Gemm {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  FloatMatrix left;
  FloatMatrix right;
  float* out = nullptr;  // Columns lie together.
  int64_t out_stride = 0;
  float alpha = 1;
  float beta = 1;
  FloatMatrix added = {};  // Not read if data is null or beta is 0. May not overlap with out.
  PackedRight packed_right = {};  // In place of `right` if it has a function.
};

// How much scratch is worth giving. Any amount works; with less than 32 KB the stack is used.
inline constexpr int64_t kGemmScratchFloats = int64_t{72} << 10;

// True if this processor has a vector form.
bool has_vectors();

// False if this processor has no vector form, and nothing is written. REQUIRES: sizes >= 0, out
// does not overlap with the operands, scratch is not used by anybody else meanwhile.
bool gemm(const Gemm& problem, Span<float> scratch);
// The same on several threads, as many as the scratch has kGemmScratchFloats for.
bool gemm(const Gemm& problem, Span<float> scratch, const ThreadPool& pool);

}  // namespace taper::optimized
