// Numbers as integers with a scale and a zero point, and back: quantise.comp.

#pragma once

#include "backends/vulkan/planner/call.h"

namespace taper::vulkan {

// A tensor as [outer, channels, inner], with a scale and a zero point for each channel: elements of
// tensors, if there are such.
struct Scaling {
  float scale = 1, inverse = 1;
  int32_t zero = 0;
  bool has_tensors = false, has_zeros = false;
  Operand scales, zeros;
  int64_t channels = 1, inner = 1;
  // Whether zero is added before it rounds, and, if so, whether 64 bits are computed with.
  bool zero_first = false, in_double = false;
};

// The bounds of integers.
struct Bounds {
  int64_t least = -128, most = 127;
};

// One scale and one zero point for all elements. Notes a problem if the zero point has more than 22
// bits.
Scaling scaling_of(Call& call, double scale, int64_t zero);

// The same as an epilogue has it. False if quantise() would note a problem.
bool make_grid(double scale, int64_t zero, Bounds bounds, ScalarType dtype, Grid& grid);

// Dispatches `out` = the integers for x; or, if `out` is float32, the numbers that these stand for,
// where they are of `dtype`. Notes a problem if the
// bounds do not fit that dtype.
void quantise(Call& call, const Operand& x, const Scaling& by, Bounds bounds, ScalarType dtype,
              const Operand& out);
// Dispatches `out` = the numbers that x stands for. x may be a constant of bytes (Call::bytes).
void dequantise(Call& call, const Operand& x, const Scaling& by, const Operand& out);

}  // namespace taper::vulkan
