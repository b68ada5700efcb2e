// Products of floats with constant matrices, packed once, for any number of rows: none is computed
// in vain, which counts where there are few. On 64-bit ARM.
//
//     out[m, n] = clamp(bias[n] + sum over k of left[m, k] * constant[k, n])
//
// The constant lies in panels of 16 columns. Tiles are up to five rows high and a panel wide.

#pragma once

#include <cstdint>

namespace taper::optimized {

bool has_constant_product();

int64_t constant_panels(int64_t columns);
// The floats of a packed constant.
int64_t constant_product_size(int64_t depth, int64_t columns);

// Of which factor (k, n) is data[k * depth_step + n * column_step].
struct ConstantMatrix {
  const float* data = nullptr;
  int64_t depth = 0, columns = 0;
  int64_t depth_step = 1, column_step = 0;
};

// Packs a constant to `to`, which is best aligned to 64 bytes.
void pack_constant(const ConstantMatrix& constant, float* to);

struct ConstantProduct {
  const float* left = nullptr;  // [rows, depth]
  int64_t rows = 0, depth = 0;
  const float* constant = nullptr;  // Packed.
  int64_t columns = 0;
  float* out = nullptr;  // [rows, columns]
  // What follows is used if `has_ends`.
  bool has_ends = false;
  const float* bias = nullptr;  // One per column; null: none.
  float min = 0, max = 0;
};

// Computes the columns of panels [begin, end). Threads: accesses only the memory that is passed.
// REQUIRES: has_constant_product().
void multiply_constant(const ConstantProduct& product, int64_t begin, int64_t end);

}  // namespace taper::optimized
