#version 450
// The variance over the n of [outer, n, inner], and the mean if it is wanted.

#include "common.glsl"
#include "lanes.glsl"
#include "moments.glsl"

layout(constant_id = 2) const uint MEAN = 0;

layout(binding = 0) writeonly buffer Out { float out_[]; };
layout(binding = 1) readonly buffer In { float in_[]; };
layout(binding = 2) writeonly buffer Means { float means_[]; };
layout(push_constant) uniform Push {
  uint results;  // outer * inner
  uint n, inner;
  float divisor;
};

void main() {
  uint lane = lane_of_thread();
  uint index = FLAT_GROUP * RESULTS + slot_of_thread();
  bool inside = index < results;
  uint first = inside ? index / inner * n * inner + index % inner : 0u;
  uint begin = inside ? lane : n;
  float mean, rest, squares;
  MOMENTS(in_[first + k * inner], n, begin, mean, rest, squares)
  if (inside && lane == 0u) {
    out_[index] = squares / divisor;
    if (MEAN != 0u) means_[index] = mean + rest;
  }
}
