// What a product does with a sum before it is stored: an activation, by a specialisation constant,
// another tensor that is added or multiplied by, and integers with a scale and a zero point.

#include "functions.glsl"

#define ACT_NONE 0u
#define ACT_CLAMP 1u
#define ACT_SIGMOID 2u
#define ACT_SILU 3u
#define ACT_HARDSWISH 4u
#define ACT_HARDSIGMOID 5u
#define ACT_GELU 6u
#define ACT_GELU_TANH 7u
#define ACT_TANH 8u

// `least` and `most` are the bounds of ACT_CLAMP.
float activate(uint kind, float x, float least, float most) {
  switch (kind) {
    case ACT_CLAMP: return is_nan(x) ? x : min(max(x, least), most);
    case ACT_SIGMOID: return sigmoid_of(x);
    case ACT_SILU: return x * sigmoid_of(x);
    case ACT_HARDSWISH: return x * (is_nan(x) ? 1.0 : clamp(x + 3.0, 0.0, 6.0)) / 6.0;
    case ACT_HARDSIGMOID: return is_nan(x) ? x : clamp(x + 3.0, 0.0, 6.0) / 6.0;
    case ACT_GELU: return gelu_of(x);
    case ACT_GELU_TANH:
      return 0.5 * x * (1.0 + tanh_of(0.79788456080 * (x + 0.044715 * x * x * x)));
    case ACT_TANH: return tanh_of(x);
  }
  return x;
}

// A sum of products of integers, times their scales: rounded before anything is added, in all shaders.
float scaled_sum(int sum, float one, float other) {
  precise float scale = one * other;
  precise float scaled = float(sum) * scale;
  return scaled;
}

// Numbers of it. `least` and `most` are the bounds of ACT_CLAMP, `low` and `high` of integers.
struct Ending {
  float least, most;
  float inverse, scale, zero, low, high;
};

// Added to an activation: the result is stored as integers, or as the numbers they stand for.
#define ACT_INTEGERS 16u
#define ACT_ON_GRID 32u

// The word to store for a sum. `other` is an element of the other tensor, which `residual` says what
// is done with, as Residual in planner/epilogue.h.
uint result_word(uint activation, uint residual, float value, float other, Ending by) {
  if (residual == 1u) value += other;
  value = activate(activation & 15u, value, by.least, by.most);
  if (residual == 2u) value += other;
  if (residual == 3u) value *= other;
  if (activation < 16u) return floatBitsToUint(value);
  float step_ = roundEven(value * by.inverse) + by.zero;
  step_ = is_nan(step_) ? by.low : clamp(step_, by.low, by.high);
  if ((activation & ACT_INTEGERS) != 0u) return uint(int(step_));
  return floatBitsToUint((step_ - by.zero) * by.scale);
}
