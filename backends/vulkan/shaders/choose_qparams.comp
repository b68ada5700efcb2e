#version 450
// The scale and the zero point with which the numbers from `low` to `high`, and 0, become integers
// of a range.

#include "common.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint KIND = 0;

const uint FROM_LEAST = 0u;  // The least integer stands for the lowest number.
const uint NEAREST = 1u;     // The lowest or the highest number, whichever is exact to more digits.
const uint SYMMETRIC = 2u;   // The middle of the range stands for 0.

layout(binding = 0) writeonly buffer Scales { float scales_[]; };
layout(binding = 1) writeonly buffer Zeros { int zeros_[]; };
layout(binding = 2) readonly buffer Low { float low_[]; };
layout(binding = 3) readonly buffer High { float high_[]; };

layout(push_constant) uniform Push {
  uint count;
  float least, most, eps;
};

// To the nearest float, which the division of some GPUs is not.
float divided(float a, float b) {
  float y = a / b;
  float rest = fma(-y, b, a);
  return abs(rest) < abs(a) ? y + rest / b : y;
}

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  float low = min(low_[index], 0.0), high = max(high_[index], 0.0);
  if (KIND == SYMMETRIC) {
    scales_[index] = max(divided(max(-low, high), (most - least) / 2.0), eps);
    zeros_[index] = int((most + least + 1.0) / 2.0);
    return;
  }
  float scale = max(divided(high - low, most - least), eps);
  float from_low = divided(low, scale), from_high = divided(high, scale);
  float zero = least - roundEven(from_low);
  if (KIND == NEAREST) {
    bool is_low = (least + from_low) + (most + from_high) > 0.0;
    zero = is_low ? least - from_low : most - from_high;
  }
  scales_[index] = scale;
  zeros_[index] = int(roundEven(clamp(zero, least, most)));
}
