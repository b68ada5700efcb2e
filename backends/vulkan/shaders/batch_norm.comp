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
layout(binding = 2) readonly buffer Means { float means_[]; };
layout(binding = 3) readonly buffer Variances { float variances_[]; };
layout(binding = 4) readonly buffer Weight { float weight_[]; };
layout(binding = 5) readonly buffer Bias { float bias_[]; };
layout(push_constant) uniform Push {
  uint count;
  uint channels, area;
  float eps;
};

uint element(uint index) {
  uint c = index / area % channels;
  float y = (FLOAT(in_, 1, index) - means_[c]) / sqrt(variances_[c] + eps);
  if (WEIGHT != 0u) y *= weight_[c];
  if (BIAS != 0u) y += bias_[c];
  return floatBitsToUint(y);
}

void main() { STORE_ALL(out_, count, element) }
