#version 450
// Packs a factor of products: rows of float16, padded with zeros to a multiple of eight. Runs once,
// for constants. A thread writes the eight elements at one place of a row.

#include "common.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) writeonly buffer Out { uvec4 out_[]; };
layout(binding = 1) readonly buffer In { float in_[]; };

layout(push_constant) uniform Push {
  uint count;             // Of threads that write.
  uint k, eights;         // Elements of a row; how many times eight there are.
  uint rows;              // Of a matrix.
  uint matrix, row, step_;  // Strides of the input.
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  uint from = index % eights * 8, at = index / eights;
  uint first = at / rows * matrix + at % rows * row;
  float x[8];
  for (uint i = 0; i < 8; ++i) x[i] = from + i < k ? in_[first + (from + i) * step_] : 0.0;
  out_[index] = uvec4(packed(vec4(x[0], x[1], x[2], x[3])), packed(vec4(x[4], x[5], x[6], x[7])));
}
