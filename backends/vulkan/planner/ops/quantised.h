// Products with weights that are integers of 4 or 8 bits with scales.

#pragma once

#include "backends/vulkan/planner/ops/product.h"

namespace taper::vulkan {

// A matrix of n x k integers.
struct PackedMatrix {
  Operand weights, scales;
  int64_t n = 0, k = 0, bits = 8, row_bytes = 0, group = 1;
  int64_t scale_row = 0, scale_group = 0;  // Strides.
  bool high_first = false;                 // Of the two in a byte.
};

// Argument `weights` is a matrix of integers, two in a byte if there are 4 bits; a row may be
// longer than k.
void read_weights(Call& call, size_t weights, int64_t k, int64_t bits, PackedMatrix& m);
// Scales [groups, rows], or [rows] for one group; rows may be more than there are. m.group is set.
void read_scales_of_columns(Call& call, size_t scales, PackedMatrix& m);

// Dispatches the product of x, which stands for integers of `grid` if there are any, with m. Result
// 0 becomes that; argument `bias` may be none.
void multiply_packed(Call& call, const Operand& x, const FactorGrid& grid, const PackedMatrix& m,
                     size_t bias, const Epilogue& epilogue);

}  // namespace taper::vulkan
