#version 450
// Makes a tensor float16, for products that read it many times. A thread makes eight elements.

#include "common.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) writeonly buffer Out { uvec4 out_[]; };
layout(binding = 1) readonly buffer In { vec4 in_[]; };

layout(push_constant) uniform Push {
  uint count;  // Of threads that write.
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  out_[index] = uvec4(packed(in_[index * 2]), packed(in_[index * 2 + 1]));
}
