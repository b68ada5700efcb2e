// Constants as products read them in float16: pack_halves.comp makes them once, and what they are
// made of does not stay.

#pragma once

#include "backends/vulkan/planner/call.h"

namespace taper::vulkan {

// Rows of a constant. Row r is number r % rows of a matrix; strides are in elements.
struct Packing {
  int64_t count = 0, k = 0;  // Of rows, and elements of a row.
  int64_t rows = 1, matrix = 0, row = 0, step = 1;
};

// Elements of a row with the zeros after them.
inline int64_t packed_length(int64_t k) { return (k + 7) / 8 * 8; }

// The packed rows. All calls that pack the same rows share them.
// REQUIRES: call.is_constant(from).
Operand packed(Call& call, const Operand& from, const Packing& packing);

}  // namespace taper::vulkan
