#version 450
// Elements of a tensor go to places of another: both are walked by strides, which may be 0 or
// negative.

#include "common.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint RANK = 1;
layout(constant_id = 1) const uint IN_WORDS = 0;  // Whether elements of a word follow each other.

layout(binding = 0) buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(push_constant) uniform Push {
  uint count;
  int out_offset, in_offset;
  int sizes[8];
  int out_strides[8];
  int in_strides[8];
};

// Where an element goes to, and where it is.
ivec2 places(uint index) {
  int rest = int(index), to = out_offset, from = in_offset;
  for (int d = int(RANK) - 1; d >= 0; --d) {
    int next = rest / sizes[d];
    int at = rest - next * sizes[d];
    rest = next;
    to += at * out_strides[d];
    from += at * in_strides[d];
  }
  return ivec2(to, from);
}

void main() {
  const uint kEach = IN_WORDS != 0u ? kPerWord : 1u;
  uint first = (FLAT_GROUP * 256u + gl_LocalInvocationID.x) * kEach;
  if (first >= count) return;
  uint word = 0u, to = 0u;
  for (uint i = 0; i < kEach && first + i < count; ++i) {
    ivec2 at = places(first + i);
    uint element = ELEMENT(in_, 1, at.y);
    if (i == 0u) to = uint(at.x);
    word = kEach == 1u ? element : word | half_at(i, element);
  }
  if (kEach == 1u) {
    STORE(out_, 0, to, word)
  } else {
    out_[to / 2u] = word;
  }
}
