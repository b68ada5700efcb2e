#version 450
// The first half of each row times the sigmoid of the second: [outer, 2, n] becomes [outer, n].

#include "common.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) writeonly buffer Out { float out_[]; };
layout(binding = 1) readonly buffer In { float in_[]; };
layout(push_constant) uniform Push {
  uint count;
  uint n;
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  uint at = index / n * 2u * n + index % n;
  out_[index] = in_[at] * sigmoid_of(in_[at + n]);
}
