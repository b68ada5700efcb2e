#version 450
// Weights [out, in, 3, 3] as winograd.glsl has them: matrices [SIDE * SIDE, out, in]. Runs once. A
// thread transforms one window.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "winograd.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) writeonly buffer Out { float out_[]; };
layout(binding = 1) readonly buffer Weights { float weights_[]; };

layout(push_constant) uniform Push {
  uint count;  // Of windows.
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  float rows[3][kMostSide];
  [[unroll]] for (uint y = 0; y < 3; ++y) {
    uint at = index * 9 + y * 3;
    rows[y] = of_weights(float[](weights_[at], weights_[at + 1], weights_[at + 2]));
  }
  [[unroll]] for (uint x = 0; x < SIDE; ++x) {
    float column[kMostSide] = of_weights(float[](rows[0][x], rows[1][x], rows[2][x]));
    [[unroll]] for (uint y = 0; y < SIDE; ++y) out_[(y * SIDE + x) * count + index] = column[y];
  }
}
