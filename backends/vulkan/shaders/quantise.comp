#version 450
// Numbers as integers, and back: q = clamp(round(x / scale) + zero), x = (q - zero) * scale. Scale
// and zero are the same for all elements, or there is one of each for every index in the middle of
// [outer, channels, inner].

#include "common.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint WAY = 0;
layout(constant_id = 1) const uint ZEROS = 0;       // What zero points are, as follows.
layout(constant_id = 2) const uint ZERO_FIRST = 0;  // 1: zero is added before it rounds; 2: and
                                                    // float64 is computed with.
layout(constant_id = 3) const uint BYTES = 0;       // Integers side by side: 1 signed, 2 not.

const uint TO_INTEGERS = 0u;
const uint TO_NUMBERS = 1u;
const uint BOTH = 2u;  // Numbers become the nearest ones that integers stand for.

const uint ZERO_PUSHED = 0u;  // And so is the scale; otherwise it is an element of a tensor.
const uint ZERO_NONE = 1u;
const uint ZERO_INTEGER = 2u;
const uint ZERO_FLOAT = 3u;

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(binding = 2) readonly buffer Scales { float scales_[]; };
layout(binding = 3) readonly buffer Zeros { uint zeros_[]; };

layout(push_constant) uniform Push {
  uint count, channels, inner;
  float inverse, scale, zero;
  float least, most;
};

// To the nearest float, which the division of some GPUs is not.
float inverse_of(float x) {
  float y = 1.0 / x;
  float rest = fma(-y, x, 1.0);
  return abs(rest) < 1.0 ? fma(rest, y, y) : y;
}

float zero_of(uint channel) {
  switch (ZEROS) {
    case ZERO_PUSHED: return zero;
    case ZERO_INTEGER: return float(int(zeros_[channel]));
    case ZERO_FLOAT: return uintBitsToFloat(zeros_[channel]);
  }
  return 0.0;
}

int integer_at(uint index) {
  if (BYTES == 0u) return int(in_[index]);
  uint byte_ = in_[index / 4] >> index % 4 * 8 & 255u;
  return BYTES == 1u ? int(byte_ ^ 128u) - 128 : int(byte_);
}

// x / by + z, rounded once: what floats leave out of the quotient and of the sum is computed, too.
float rounded_quotient(float x, float by, float z) {
  precise float y = inverse_of(by);
  precise float quotient = x * y;
  precise float sum = quotient + z;
  precise float back = sum - quotient;
  precise float left_of_sum = (quotient - (sum - back)) + (z - back);
  precise float left_of_quotient = fma(x, y, -quotient) + x * (fma(-y, by, 1.0) / by);
  float nearest = roundEven(sum);
  precise float rest = (sum - nearest) + (left_of_sum + left_of_quotient);
  if (!(abs(rest) <= 1.0)) return nearest;
  return rest > 0.5 ? nearest + 1.0 : rest < -0.5 ? nearest - 1.0 : nearest;
}

// The nearest integer, the even one of two, within the bounds; NaN becomes the least.
int integer_of(float x, float by, float z) {
  if (ZERO_FIRST == 2u) {
    float nearest = rounded_quotient(x, by, z);
    return int(is_nan(nearest) ? least : clamp(nearest, least, most));
  }
  float product = x * (ZEROS == ZERO_PUSHED ? inverse : inverse_of(by));
  if (is_nan(product)) return int(least);
  float nearest = ZERO_FIRST != 0u ? roundEven(product + z) : roundEven(product) + z;
  return int(clamp(nearest, least, most));
}

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  uint channel = index / inner % channels;
  float by = ZEROS == ZERO_PUSHED ? scale : scales_[channel];
  float z = zero_of(channel);
  int integer = WAY == TO_NUMBERS ? integer_at(index)
                                  : integer_of(uintBitsToFloat(in_[index]), by, z);
  float number = (float(integer) - z) * by;
  out_[index] = WAY == TO_INTEGERS ? uint(integer) : floatBitsToUint(number);
}
