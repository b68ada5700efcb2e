// What a product does with a sum before it is stored: an activation, by a specialisation constant.

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
