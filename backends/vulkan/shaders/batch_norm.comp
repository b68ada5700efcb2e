#version 450
// Batch norm with running statistics: element (i, c, j) of [images, channels, area] becomes
// (x - mean[c]) / sqrt(variance[c] + eps) * weight[c] + bias[c].

#include "common.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint WEIGHT = 0;  // Whether there is one.
layout(constant_id = 1) const uint BIAS = 0;

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(binding = 2) readonly buffer Means { uint means_[]; };
layout(binding = 3) readonly buffer Variances { uint variances_[]; };
layout(binding = 4) readonly buffer Weight { uint weight_[]; };
layout(binding = 5) readonly buffer Bias { uint bias_[]; };
layout(push_constant) uniform Push {
  uint count;
  uint channels, area;
  float eps;
};

uint element(uint index) {
  uint c = index / area % channels;
  float y = (FLOAT(in_, 1, index) - FLOAT(means_, 2, c)) / sqrt(FLOAT(variances_, 3, c) + eps);
  if (WEIGHT != 0u) y *= FLOAT(weight_, 4, c);
  if (BIAS != 0u) y += FLOAT(bias_, 5, c);
  return floatBitsToUint(y);
}

void main() { STORE_ALL(out_, count, element) }
