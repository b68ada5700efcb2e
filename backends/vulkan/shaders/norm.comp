#version 450
// Layer, group and RMS norms: every row of n elements is normalised by its own moments, then scaled
// and shifted.
//
// Element k of a row has the weight number `row % groups * channels + k / area`: a layer norm has
// one group and an area of 1, in a group norm the area is that of an image.

#include "common.glsl"
#include "lanes.glsl"
#include "moments.glsl"

layout(constant_id = 2) const uint IS_RMS = 0;   // No mean is subtracted.
layout(constant_id = 3) const uint WEIGHT = 0;   // Whether there is one.
layout(constant_id = 4) const uint BIAS = 0;
layout(constant_id = 5) const uint HAS_AREA = 0;  // Whether the area is not 1.
layout(constant_id = 6) const uint WIDE = 0;     // Whether an RMS norm takes four elements at once.

layout(binding = 0) buffer Out { uint out_[]; };
layout(binding = 1) writeonly buffer Means { float means_[]; };
layout(binding = 2) writeonly buffer Scales { float scales_[]; };
layout(binding = 3) readonly buffer In { uint in_[]; };
layout(binding = 4) readonly buffer Weight { float weight_[]; };
layout(binding = 5) readonly buffer Bias { float bias_[]; };
layout(binding = 0) writeonly buffer OutWide { vec4 out_wide_[]; };
layout(binding = 3) readonly buffer InWide { vec4 in_wide_[]; };
layout(binding = 4) readonly buffer WeightWide { vec4 weight_wide_[]; };
layout(binding = 0) writeonly buffer OutHalves { uvec2 out_halves_[]; };
layout(binding = 3) readonly buffer InHalves { uvec2 in_halves_[]; };
layout(push_constant) uniform Push {
  uint rows, n;
  uint groups, channels, area;
  float eps;
};

vec4 in_quad(uint at) { return IS_HALF(3) ? unpacked(in_halves_[at]) : in_wide_[at]; }

float affine(float y, uint channel, uint k) {
  uint at = channel + (HAS_AREA != 0u ? k / area : k);
  if (WEIGHT != 0u) y *= weight_[at];
  if (BIAS != 0u) y += bias_[at];
  return y;
}

void main() {
  uint lane = lane_of_thread();
  uint row = FLAT_GROUP * RESULTS + slot_of_thread();
  bool inside = row < rows;
  uint first = inside ? row * n : 0u;
  uint begin = inside ? lane : n;
  float mean = 0.0, rest = 0.0, squares = 0.0;
  if (IS_RMS != 0u) {
    if (WIDE != 0u) {
      vec4 sums = vec4(0.0);
      for (uint k = begin; k < n / 4; k += LANES) {
        vec4 x = in_quad(first / 4 + k);
        sums = fma(x, x, sums);
      }
      squares = sums.x + sums.y + sums.z + sums.w;
    } else {
      for (uint k = begin; k < n; k += LANES) {
        float x = FLOAT(in_, 3, first + k);
        squares = fma(x, x, squares);
      }
    }
    squares = sum_of_lanes(squares);
  } else {
    MOMENTS(FLOAT(in_, 3, first + k), n, begin, mean, rest, squares)
  }
  float scale = 1.0 / sqrt(squares / float(n) + eps);
  if (IS_RMS != 0u && WIDE != 0u) {
    for (uint k = begin; k < n / 4; k += LANES) {
      vec4 y = in_quad(first / 4 + k) * scale;
      if (WEIGHT != 0u) y *= weight_wide_[k];
      if (IS_HALF(0)) {
        out_halves_[first / 4 + k] = packed(y);
      } else {
        out_wide_[first / 4 + k] = y;
      }
    }
    return;
  }
  uint channel = row % groups * channels;
  STORE_ROW(out_, first, n, 1u, begin,
            affine((FLOAT(in_, 3, first + k) - mean - rest) * scale, channel, k))
  if (IS_RMS == 0u && inside && lane == 0u) {
    means_[row] = mean + rest;
    scales_[row] = scale;
  }
}
