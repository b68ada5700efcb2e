#version 450
// out[i] = first + i * step, as floats or as integers.

#include "common.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint IS_FLOAT = 1;

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(push_constant) uniform Push {
  uint count;
  uint first, step_;
};

uint element(uint index) {
  return IS_FLOAT != 0u
      ? floatBitsToUint(uintBitsToFloat(first) + float(index) * uintBitsToFloat(step_))
      : first + index * step_;
}

void main() { STORE_ALL(out_, count, element) }
