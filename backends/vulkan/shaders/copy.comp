#version 450
// Elements of a tensor go to places of another: both are walked by strides, which may be 0 or
// negative.

#include "common.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint RANK = 1;

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(push_constant) uniform Push {
  uint count;
  int out_offset, in_offset;
  int sizes[8];
  int out_strides[8];
  int in_strides[8];
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  int rest = int(index), to = out_offset, from = in_offset;
  for (int d = int(RANK) - 1; d >= 0; --d) {
    int next = rest / sizes[d];
    int at = rest - next * sizes[d];
    rest = next;
    to += at * out_strides[d];
    from += at * in_strides[d];
  }
  out_[to] = in_[from];
}
