#version 450
// Adds up the parts of products that several workgroups computed, and does what comes after a sum.
// `parts` is [z, PARTS, m, n]; those of integers (byte_product.glsl) are integers, whose sum is
// multiplied by both scales.

#include "common.glsl"
#include "epilogue.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint PARTS = 2;
layout(constant_id = 1) const uint BIAS = 0;      // 0: none, 1: of columns, 2: of rows.
layout(constant_id = 2) const uint ACTIVATION = 0;
layout(constant_id = 3) const uint RESIDUAL = 0;  // As Residual in planner/epilogue.h.
layout(constant_id = 4) const uint INTEGERS = 0;  // 0: none, scales are 1: of columns, 2: of rows.
layout(constant_id = 5) const uint GRID = 0;      // As in byte_product.glsl.

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer Parts { uint parts_[]; };
layout(binding = 2) readonly buffer Bias { float bias_[]; };
layout(binding = 3) readonly buffer Residual { uint residual_[]; };
layout(binding = 4) readonly buffer Scales { float scales_[]; };
layout(binding = 5) readonly buffer GridScale { float grid_scale_[]; };

layout(push_constant) uniform Push {
  uint count, m, n, inner;
  Ending ending;
  float grid_scale;
};

// The parts of element `at` of matrix z as integers, times the scale of its row or column.
float sum_of_integers(uint z, uint at) {
  int sum = 0;
  for (uint i = 0; i < PARTS; ++i) sum += int(parts_[(z * PARTS + i) * m * n + at]);
  float scale = GRID == 0u ? grid_scale : grid_scale_[0];
  return scaled_sum(sum, scale, scales_[INTEGERS == 1u ? at % n : z % inner * m + at / n]);
}

uint element(uint index) {
  uint matrix = m * n;
  uint z = index / matrix, at = index % matrix;
  float value = 0.0;
  if (INTEGERS != 0u) {
    value = sum_of_integers(z, at);
  } else {
    for (uint i = 0; i < PARTS; ++i) value += uintBitsToFloat(parts_[(z * PARTS + i) * matrix + at]);
  }
  if (BIAS == 1u) value += bias_[at % n];
  if (BIAS == 2u) value += bias_[z % inner * m + at / n];
  float other = RESIDUAL != 0u ? FLOAT(residual_, 3, index) : 0.0;
  return result_word(ACTIVATION, RESIDUAL, value, other, ending);
}

void main() { STORE_ALL(out_, count, element) }
