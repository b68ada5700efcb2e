#version 450
// The first half of each row times the sigmoid of the second: [outer, 2, n] becomes [outer, n].

#include "common.glsl"
#include "functions.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(push_constant) uniform Push {
  uint count;
  uint n;
};

uint element(uint index) {
  uint at = index / n * 2u * n + index % n;
  return floatBitsToUint(FLOAT(in_, 1, at) * sigmoid_of(FLOAT(in_, 1, at + n)));
}

void main() { STORE_ALL(out_, count, element) }
