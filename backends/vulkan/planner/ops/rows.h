// Tensors as rows: [outer, n, inner], of which the n elements of a row make one result or are
// computed together. For the shaders that include lanes.glsl.

#pragma once

#include "backends/vulkan/planner/call.h"

namespace taper::vulkan {

struct Rows {
  Operand x;
  int64_t outer = 1, n = 1, inner = 1;

  int64_t count() const { return outer * inner; }
};

// The rows along dimension `d`; a scalar is one row of one element.
Rows rows_along(const Operand& x, size_t d);
// The rows over the dimensions of a set (Call::dim_set). Where these do not lie side by side, the
// elements are first copied to where they do.
Rows rows_over(Call& call, const Operand& x, const Dims& set);

// Dispatches a shader for `results` of `rows`, whose first constants are those of lanes.glsl. What
// else it needs follows: constants, push(), writes() and reads().
Call& dispatch_rows(Call& call, Shader shader, int64_t results, int64_t n, int64_t inner);

// The sizes without the dimensions of a set, or with 1 in their place.
Dims without(const Dims& dims, const Dims& set, bool keepdim);

}  // namespace taper::vulkan
