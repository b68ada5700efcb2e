// exp, tanh, erf and their friends as straight-line code over float, so that a loop over them is
// vectorised; within a few units in the last place. Over double they are the C library's.
//
// The comments call unit in the last place "ulp". NaN gives NaN, infinities give the limits.

#pragma once

#include <cmath>

#include "kernels_portable/half.h"

namespace taper::portable {

// 2^n for -126 <= n <= 127.
inline float power_of_two(int32_t n) {
  return float_from_bits(static_cast<uint32_t>(n + 127) << 23);
}

// e^x = 2^n * e^r with n the integer nearest to x / ln 2 and |r| <= ln(2) / 2; e^r is the Taylor
// polynomial of degree 7, whose error is below 1e-8. Overflows to infinity, underflows gradually.
inline float exp_of(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;  // Few bits, so that n * kLn2High is exact.
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer.
  const bool vanishes = x < -104.0f;     // Selected, since arithmetic that underflows is slow.
  float y = vanishes ? 0.0f : x;
  y = y > 89.0f ? 89.0f : y;
  const float shifted = y * kLog2E + kRound;
  const float n = shifted - kRound;
  const int32_t bits = static_cast<int32_t>(float_bits(shifted) - float_bits(kRound));
  const int32_t power = y == y ? bits : 0;
  const float r = (y - n * kLn2High) - n * kLn2Low;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const int32_t half = power >> 1;  // Two factors, since 2^n itself may not be a float.
  const float result = p * power_of_two(half) * power_of_two(power - half);
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
