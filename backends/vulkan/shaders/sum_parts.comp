#version 450
// Adds up the parts of products that several workgroups computed, and does what comes after a sum.
// `parts` is [z, PARTS, m, n].

#include "common.glsl"
#include "epilogue.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint PARTS = 2;
layout(constant_id = 1) const uint BIAS = 0;      // 0: none, 1: of columns, 2: of rows.
layout(constant_id = 2) const uint ACTIVATION = 0;
layout(constant_id = 3) const uint RESIDUAL = 0;  // As Residual in planner/epilogue.h.

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer Parts { float parts_[]; };
layout(binding = 2) readonly buffer Bias { float bias_[]; };
layout(binding = 3) readonly buffer Residual { uint residual_[]; };

layout(push_constant) uniform Push {
  uint count, m, n, inner;
  Ending ending;
};

uint element(uint index) {
  uint matrix = m * n;
  uint z = index / matrix, at = index % matrix;
  float value = 0.0;
  for (uint i = 0; i < PARTS; ++i) value += parts_[(z * PARTS + i) * matrix + at];
  if (BIAS == 1u) value += bias_[at % n];
  if (BIAS == 2u) value += bias_[z % inner * m + at / n];
  float other = RESIDUAL != 0u ? FLOAT(residual_, 3, index) : 0.0;
  return result_word(ACTIVATION, RESIDUAL, value, other, ending);
}

void main() { STORE_ALL(out_, count, element) }
