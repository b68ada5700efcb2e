#version 450
// Rows of weights that are integers of 4 or 8 bits with a scale for each group, as floats. The rows
// are all rows in order, or those that `indices` name. A thread makes one element.

#include "common.glsl"
#include "packed.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint INDEXED = 0;
layout(constant_id = 2) const uint HIGH_FIRST = 0;  // Of the two in a byte; of 4 bits.

layout(binding = 0) writeonly buffer Out { float out_[]; };
layout(binding = 1) readonly buffer Weights { uint weights_[]; };
layout(binding = 2) readonly buffer Scales { float scales_[]; };
layout(binding = 3) readonly buffer Indices { int indices_[]; };
layout(binding = 4) buffer Fault { uint fault_; };

layout(push_constant) uniform Push {
  uint count, k, row_bytes, group;
  uint scale_row, scale_group;  // Strides of the scales.
  int rows;                     // Indices are below it.
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  uint row = index / k, i = index % k;
  if (INDEXED != 0u) {
    int picked = indices_[row];
    if (picked < 0 || picked >= rows) {
      atomicOr(fault_, 1u);
      return;
    }
    row = uint(picked);
  }
  uint byte_ = row * row_bytes + i * BITS / 8;
  uint part = BITS == 4u ? byte_ % 4 * 2 + (i + HIGH_FIRST) % 2 : byte_ % 4;
  float scale = scales_[row * scale_row + i / group * scale_group];
  out_[index] = weight_of(weights_[byte_ / 4], part) * scale;
}
