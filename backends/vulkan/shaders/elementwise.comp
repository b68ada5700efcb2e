#version 450
// out[i] = f(a[i], b[i], c[i]) for every element, with operands broadcast by strides of 0.
//
// f is a specialisation constant; elementwise_kinds.glsl numbers the functions.

#include "common.glsl"
#include "functions.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint FUNCTION = 0;
layout(constant_id = 1) const uint OPERANDS = 1;
layout(constant_id = 2) const uint RANK = 0;  // 0: all operands are dense like the result.

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer A { uint a_[]; };
layout(binding = 2) readonly buffer B { uint b_[]; };
layout(binding = 3) readonly buffer C { uint c_[]; };
layout(push_constant) uniform Push {
  uint count;
  float p, q;  // Scalars of the function.
  int sizes[5];
  int a_strides[5];
  int b_strides[5];
  int c_strides[5];
};

const uint kTrue = 1u, kFalse = 0u;

#define TAPER_FUNCTION(name, number) const uint name = number;
#include "elementwise_kinds.glsl"

uint f(float v) { return floatBitsToUint(v); }
uint b(bool v) { return v ? kTrue : kFalse; }

// Of integers; the remainder of negative ones is not defined.
int floor_of_quotient(int i, int j) {
  int by = max(abs(j), 1);
  int n = j < 0 ? -i : i;
  return n >= 0 ? n / by : -1 - (-1 - n) / by;
}

uint of_one(uint a, float x, int i) {
  switch (FUNCTION) {
    case IDENTITY: return a;
    case ABS: return f(abs(x));
    case NEG: return f(-x);
    case EXP: return f(exp_of(x));
    case EXPM1: return f(expm1_of(x));
    case LOG: return f(log_of(x));
    case LOG2: return f(log2_of(x));
    case LOG10: return f(log_of(x) * 0.4342944819);
    case LOG1P: return f(log1p_of(x));
    case SQRT: return f(sqrt(x));
    case RSQRT: return f(inversesqrt(x));
    case RECIPROCAL: return f(1.0 / x);
    case ASIN: return f(asin_of(x));
    case ACOS: return f(acos_of(x));
    case ATAN: return f(atan_of(x));
    case SIN: return f(sin_of(x));
    case COS: return f(cos_of(x));
    case TAN: return f(tan_of(x));
    case TANH: return f(tanh_of(x));
    case SIGMOID: return f(sigmoid_of(x));
    case ERF: return f(erf_of(x));
    case FLOOR: return f(floor(x));
    case CEIL: return f(ceil(x));
    case ROUND: return f(round_of(x));
    case TRUNC: return f(trunc(x));
    case SIGN: return f(is_nan(x) ? 0.0 : sign(x));
    case RELU: return is_nan(x) ? a : f(max(x, 0.0));
    case CLAMP: return is_nan(x) ? a : f(min(max(x, p), q));
    case GELU: return f(gelu_of(x));
    case GELU_TANH: return f(0.5 * x * (1.0 + tanh_of(0.79788456080 * (x + 0.044715 * x * x * x))));
    case SILU: return f(x * sigmoid_of(x));
    case HARDSIGMOID: return is_nan(x) ? a : f(clamp(x + 3.0, 0.0, 6.0) / 6.0);
    case HARDSWISH: return f(x * (is_nan(x) ? 1.0 : clamp(x + 3.0, 0.0, 6.0)) / 6.0);
    case LEAKY_RELU: return f(x > 0.0 ? x : x * p);
    case ELU: return f(x > 0.0 ? x * q : expm1_of(x) * p);
    case SOFTPLUS: return f(x * p > q ? x : log1p_of(exp_of(x * p)) / p);
    case MISH: return f(x * tanh_of(x > 20.0 ? x : log1p_of(exp_of(x))));
    case HARDSHRINK: return f(x >= -p && x <= p ? 0.0 : x);
    case SQUARE: return f(x * x);
    case POW_SCALAR: return f(abs(p) == 0.5 && x < 0.0 ? NAN : pow_of(x, p));
    case SCALAR_POW: return f(pow_of(p, x));
    case ADD_SCALAR: return f(x + p);
    case MUL_SCALAR: return f(x * p);
    case RSUB_SCALAR: return f(p - x * q);
    case DIV_SCALAR: return f(x / p);
    case LOGICAL_NOT: return b(a == 0u);
    case LOGICAL_NOT_FLOAT: return b(x == 0.0);
    case BITWISE_NOT: return ~a;
    case INT_TO_FLOAT: return f(float(i));
    case FLOAT_TO_INT: return uint(int(x));
    case FLOAT_TO_BOOL: return b(x != 0.0);
    case INT_TO_BOOL: return b(a != 0u);
    case INT_TO_BYTE: return a & 255u;
    case INT_TO_CHAR: return uint(bitfieldExtract(i, 0, 8));
    case INT_TO_SHORT: return uint(bitfieldExtract(i, 0, 16));
    case IS_NAN: return b(is_nan(x));
    case IS_INF: return b((a & 0x7fffffffu) == 0x7f800000u);
    case EQ_SCALAR: return b(x == p);
    case NE_SCALAR: return b(x != p);
    case LT_SCALAR: return b(x < p);
    case LE_SCALAR: return b(x <= p);
    case GT_SCALAR: return b(x > p);
    case GE_SCALAR: return b(x >= p);
    case INT_EQ_SCALAR: return b(i == floatBitsToInt(p));
    case INT_NE_SCALAR: return b(i != floatBitsToInt(p));
    case INT_LT_SCALAR: return b(i < floatBitsToInt(p));
    case INT_LE_SCALAR: return b(i <= floatBitsToInt(p));
    case INT_GT_SCALAR: return b(i > floatBitsToInt(p));
    case INT_GE_SCALAR: return b(i >= floatBitsToInt(p));
    case INT_ABS: return uint(abs(i));
    case INT_NEG: return uint(-i);
    case INT_CLAMP: return uint(min(max(i, floatBitsToInt(p)), floatBitsToInt(q)));
  }
  return a;
}

uint of_two(uint a, uint c, float x, float y, int i, int j) {
  switch (FUNCTION) {
    case ADD: return f(x + y * p);
    case SUB: return f(x - y * p);
    case MUL: return f(x * y);
    case DIV: return f(x / y);
    case DIV_FLOOR: return f(floor_divide(x, y));
    case DIV_TRUNC: return f(trunc(x / y));
    case REMAINDER: return f(remainder_of(x, y));
    case FMOD: return f(fmod_of(x, y));
    case POW: return f(pow_of(x, y));
    case MINIMUM: return is_nan(x) ? a : is_nan(y) ? c : f(min(x, y));
    case MAXIMUM: return is_nan(x) ? a : is_nan(y) ? c : f(max(x, y));
    case PRELU: return f(x > 0.0 ? x : x * y);
    case EQ: return b(x == y);
    case NE: return b(x != y);
    case LT: return b(x < y);
    case LE: return b(x <= y);
    case GT: return b(x > y);
    case GE: return b(x >= y);
    case INT_ADD: return uint(i + j * floatBitsToInt(p));
    case INT_SUB: return uint(i - j * floatBitsToInt(p));
    case INT_MUL: return uint(i * j);
    case INT_DIV: return f(float(i) / float(j));
    case INT_DIV_FLOOR: return uint(j == -1 ? -i : floor_of_quotient(i, j));
    case INT_DIV_TRUNC: return uint(j == -1 ? -i : i / max(abs(j), 1) * sign(j));
    case INT_MINIMUM: return uint(min(i, j));
    case INT_MAXIMUM: return uint(max(i, j));
    case INT_EQ: return b(i == j);
    case INT_NE: return b(i != j);
    case INT_LT: return b(i < j);
    case INT_LE: return b(i <= j);
    case INT_GT: return b(i > j);
    case INT_GE: return b(i >= j);
    case BITWISE_AND: return a & c;
    case BITWISE_OR: return a | c;
    case BITWISE_XOR: return a ^ c;
    case LOGICAL_AND: return b(a != 0u && c != 0u);
    case LOGICAL_OR: return b(a != 0u || c != 0u);
    case LOGICAL_XOR: return b((a != 0u) != (c != 0u));
  }
  return a;
}

uint element(uint index) {
  int ia = int(index), ib = ia, ic = ia;
  if (RANK > 0u) {
    ia = ib = ic = 0;
    int rest = int(index);
    for (int d = int(RANK) - 1; d >= 0; --d) {
      int next = rest / sizes[d];
      int at = rest - next * sizes[d];
      rest = next;
      ia += at * a_strides[d];
      ib += at * b_strides[d];
      ic += at * c_strides[d];
    }
  }
  uint a = ELEMENT(a_, 1, ia);
  if (OPERANDS == 1u) {
    return of_one(a, uintBitsToFloat(a), int(a));
  }
  if (OPERANDS == 2u) {
    uint c = ELEMENT(b_, 2, ib);
    return of_two(a, c, uintBitsToFloat(a), uintBitsToFloat(c), int(a), int(c));
  }
  return a != 0u ? ELEMENT(b_, 2, ib) : ELEMENT(c_, 3, ic);  // where(a, b, c)
}

void main() { STORE_ALL(out_, count, element) }
