#version 450
// Softmax and its logarithm along one dimension of [outer, n, inner]. A row that holds NaN or
// infinity, or nothing but -infinity, becomes NaN as in PyTorch.

#include "common.glsl"
#include "lanes.glsl"

layout(constant_id = 2) const uint IS_LOG = 0;

layout(binding = 0) buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(push_constant) uniform Push {
  uint rows;  // outer * inner
  uint n, inner;
};

float result(uint at, float largest, float shift, float scale) {
  float x = FLOAT(in_, 1, at) - largest;
  return IS_LOG != 0u ? x - shift : exp_of(x) * scale;
}

void main() {
  uint row = FLAT_GROUP * RESULTS + slot_of_thread();
  bool inside = row < rows;
  uint first = inside ? row / inner * n * inner + row % inner : 0u;
  uint begin = inside ? lane_of_thread() : n;

  float largest = -INFINITY;
  for (uint k = begin; k < n; k += LANES) {
    float x = FLOAT(in_, 1, first + k * inner);
    if (x > largest) largest = x;
  }
  largest = max_of_lanes(largest);

  float sum = 0.0;
  for (uint k = begin; k < n; k += LANES) sum += exp_of(FLOAT(in_, 1, first + k * inner) - largest);
  sum = sum_of_lanes(sum);

  float scale = 1.0 / sum;
  float shift = is_nan(sum) ? sum : log(sum);
  STORE_ROW(out_, first, n, inner, begin, result(first + k * inner, largest, shift, scale))
}
