#version 450
// A product with few rows in `a`: out = activation(a * transposed(b) + bias + residual), where rows
// of both are adjacent in memory. 32 threads add up an element of the result.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "epilogue.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint BIAS = 0;
layout(constant_id = 1) const uint ACTIVATION = 0;
layout(constant_id = 2) const uint RESIDUAL = 0;  // As Residual in planner/epilogue.h.
layout(constant_id = 3) const uint WIDE = 0;      // Whether rows are read four elements at a time.

layout(binding = 0) writeonly buffer Out { float out_[]; };
layout(binding = 1) readonly buffer A { float a_[]; };
layout(binding = 2) readonly buffer B { float b_[]; };
layout(binding = 3) readonly buffer Bias { float bias_[]; };
layout(binding = 4) readonly buffer Residual { float residual_[]; };
layout(binding = 1) readonly buffer AWide { vec4 a_wide_[]; };
layout(binding = 2) readonly buffer BWide { vec4 b_wide_[]; };

layout(push_constant) uniform Push {
  uint n, k;
  float least, most;
};

shared float sums_[256];

void main() {
  uint thread = gl_LocalInvocationID.x;
  uint lane = thread % 32;
  uint column = FLAT_GROUP * 8u + thread / 32;
  uint row = gl_WorkGroupID.z;
  float sum = 0.0;
  if (column < n) {
    if (WIDE != 0u) {
      uint quads = k / 4;
      vec4 sums = vec4(0.0);
      for (uint i = lane; i < quads; i += 32) {
        sums = fma(a_wide_[row * quads + i], b_wide_[column * quads + i], sums);
      }
      sum = sums.x + sums.y + sums.z + sums.w;
    } else {
      for (uint i = lane; i < k; i += 32) sum = fma(a_[row * k + i], b_[column * k + i], sum);
    }
  }
  sums_[thread] = sum;
  barrier();
  [[unroll]] for (uint half_ = 16; half_ > 0; half_ /= 2) {
    if (lane < half_) sums_[thread] += sums_[thread + half_];
    barrier();
  }
  if (lane != 0 || column >= n) return;
  float value = sums_[thread];
  uint at = row * n + column;
  if (BIAS != 0u) value += bias_[column];
  if (RESIDUAL == 1u) value += residual_[at];
  value = activate(ACTIVATION, value, least, most);
  if (RESIDUAL == 2u) value += residual_[at];
  if (RESIDUAL == 3u) value *= residual_[at];
  out_[at] = value;
}
