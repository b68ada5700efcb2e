#version 450
// A product with few rows in `a`: out = activation(a * transposed(b) + bias + residual), where rows
// of both are adjacent in memory. 32 threads add up an element of the result.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "epilogue.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint BIAS = 0;
layout(constant_id = 1) const uint ACTIVATION = 0;
layout(constant_id = 2) const uint RESIDUAL = 0;  // As Residual in planner/epilogue.h.
layout(constant_id = 3) const uint WIDE = 0;      // Whether rows are read four elements at a time.
layout(constant_id = 4) const uint PACKED = 0;    // Whether b is in float16 (pack_halves.comp).
layout(constant_id = 5) const uint ROUNDS = 0;    // Whether factors are rounded to float16.

layout(binding = 0) buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer A { uint a_[]; };
layout(binding = 2) readonly buffer B { float b_[]; };
layout(binding = 3) readonly buffer Bias { float bias_[]; };
layout(binding = 4) readonly buffer Residual { uint residual_[]; };
layout(binding = 1) readonly buffer AWide { vec4 a_wide_[]; };
layout(binding = 1) readonly buffer AHalves { uvec2 a_halves_[]; };
layout(binding = 2) readonly buffer BWide { vec4 b_wide_[]; };
layout(binding = 2) readonly buffer BPacked { uint b_packed_[]; };
layout(binding = 2) readonly buffer BPackedWide { uvec2 b_packed_wide_[]; };

layout(push_constant) uniform Push {
  uint n, k;
  uint b_n;  // Elements from a row of b to the next one.
  Ending ending;
};

shared float sums_[256];

float rounded(float x) { return ROUNDS != 0u ? as_half(x) : x; }
vec4 rounded(vec4 x) { return ROUNDS != 0u ? as_half(x) : x; }

float b_at(uint at) {
  if (PACKED == 0u) return rounded(b_[at]);
  vec2 both = unpackHalf2x16(b_packed_[at / 2]);
  return at % 2 == 0u ? both.x : both.y;
}
vec4 b_quad(uint at) {
  return PACKED != 0u ? unpacked(b_packed_wide_[at]) : rounded(b_wide_[at]);
}

vec4 a_quad(uint at) { return IS_HALF(1) ? unpacked(a_halves_[at]) : rounded(a_wide_[at]); }

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
        sums = fma(a_quad(row * quads + i), b_quad(column * b_n / 4 + i), sums);
      }
      sum = sums.x + sums.y + sums.z + sums.w;
    } else {
      for (uint i = lane; i < k; i += 32) {
        sum = fma(rounded(FLOAT(a_, 1, row * k + i)), b_at(column * b_n + i), sum);
      }
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
  float other = RESIDUAL != 0u ? FLOAT(residual_, 4, at) : 0.0;
  STORE(out_, 0, at, result_word(ACTIVATION, RESIDUAL, value, other, ending))
}
