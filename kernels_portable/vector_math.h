// exp, tanh, erf and their friends as straight-line code over float, so that a loop over them is
// vectorised; within a few units in the last place. Over double they are the C library's.
//
// The comments call unit in the last place "ulp". NaN gives NaN, infinities give the limits.

#pragma once

#include <cmath>

#include "kernels_portable/half.h"

namespace taper::portable {

// e^x = 2^n * e^r with n the integer nearest to x / ln 2 and |r| <= ln(2) / 2. The float added to
// find n leaves 126 + n in its low bits, which become the exponent of 2^(n-1); e^r is twice half of
// a polynomial of degree 6 (fitted, error 3e-9). Overflows to infinity; results below 2^-125 are 0.
inline float exp_of(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;  // Few bits, so that n * kLn2High is exact.
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12583038.0f;  // 1.5 * 2^23 + 126
  const bool vanishes = x < -86.5f;
  float y = vanishes ? 0.0f : x;
  y = y > 89.0f ? 89.0f : y;
  const float shifted = y * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (y - n * kLn2High) - n * kLn2Low;
  float p = 2 * 0.001381455222f;
  p = p * r + 2 * 0.008368745446f;
  p = p * r + 2 * 0.041668388993f;
  p = p * r + 2 * 0.166665211320f;
  p = p * r + 2 * 0.499999940395f;
  p = p * r + 2.0f;
  p = p * r + 2.0f;
  const float result = p * float_from_bits(float_bits(shifted) << 23);
  return vanishes ? 0.0f : result;
}
inline double exp_of(double x) { return std::exp(x); }

// 1 / (1 + e^-x), accurate for large negative x too.
inline float sigmoid_of(float x) { return 1.0f / (1.0f + exp_of(-x)); }
inline double sigmoid_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// Near 0 an odd polynomial of degree 13 (fitted on [0, 0.7], error 1e-9), else 1 - 2 / (e^2x + 1).
inline float tanh_of(float x) {
  const float a = x < 0 ? -x : x;
  const float z = x * x;
  float p = 0.00188218791f;
  p = p * z - 0.00786164403f;
  p = p * z + 0.0215576552f;
  p = p * z - 0.0539169721f;
  p = p * z + 0.133329257f;
  p = p * z - 0.333333224f;
  p = p * z + 1.0f;
  const float small = x * p;
  const float tail = 1.0f - 2.0f / (exp_of(2.0f * a) + 1.0f);
  const float large = x < 0 ? -tail : tail;
  return a < 0.7f ? small : large;
}
inline double tanh_of(double x) { return std::tanh(x); }

// Up to 1 an odd polynomial of degree 13 (error 2e-9), above 1 - e^q with q a polynomial fitted to
// log(erfc) on [0.95, 4.1] (error 2e-9); from 4 on it is 1 to the last bit.
inline float erf_of(float x) {
  const float a = x < 0 ? -x : x;
  const float z = x * x;
  float p = 7.88249745e-05f;
  p = p * z - 0.00080188555f;
  p = p * z + 0.00518931216f;
  p = p * z - 0.0268543288f;
  p = p * z + 0.112835974f;
  p = p * z - 0.37612626f;
  p = p * z + 1.12837911f;
  const float small = x * p;
  const float b = a > 4.0f ? 4.0f : a;
  float q = 1.84255623e-05f;
  q = q * b - 0.000399064389f;
  q = q * b + 0.00397621747f;
  q = q * b - 0.0245420467f;
  q = q * b + 0.10728471f;
  q = q * b + 0.634346068f;
  q = q * b + 1.12897372f;
  q = q * b - 5.24647221e-05f;
  const float tail = 1.0f - exp_of(-q);
  const float large = x < 0 ? -tail : tail;
  return a < 1.0f ? small : large;
}
inline double erf_of(double x) { return std::erf(x); }

// Rounding without the C library, which has no vector form for the oldest x86-64. Adding the number
// from which on all floats are integers drops the fraction, to nearest even.
inline float integers_from(float) { return 8388608.0f; }
inline double integers_from(double) { return 4503599627370496.0; }

template <typename C>
inline C round_of(C x) {
  const C magnitude = std::fabs(x);
  const C large = integers_from(x);
  const C rounded = (magnitude + large) - large;
  return std::copysign(magnitude < large ? rounded : magnitude, x);
}
template <typename C>
inline C floor_of(C x) {
  const C rounded = round_of(x);
  return rounded > x ? rounded - 1 : rounded;
}
template <typename C>
inline C ceil_of(C x) {
  const C rounded = round_of(x);
  return std::copysign(rounded < x ? rounded + 1 : rounded, x);
}
template <typename C>
inline C trunc_of(C x) {
  return std::copysign(floor_of(std::fabs(x)), x);
}

}  // namespace taper::portable
