// exp, tanh, erf and related functions of float as straight-line code, so that compilers vectorise
// a loop over them; within a few units in the last place. For double they call the C library.
//
// NaN gives NaN, infinities give the limits.

#pragma once

#include <cmath>
#include <cstddef>

#include "kernels_portable/engine/half.h"

namespace taper::portable {

// e^x = 2^n * e^r with n the integer nearest to x / ln 2 and |r| <= ln(2) / 2. The float added to
// find n leaves 126 + n in its low bits, which become the exponent of 2^(n-1); e^r is twice half of
// a polynomial of degree 6 (fitted, error 3e-9). Overflows to infinity; results below 2^-125 are 0.
inline constexpr float kLog2E = 1.44269504f;
inline constexpr float kLn2High = 0.693359375f;  // Few bits, so that n * kLn2High is exact.
inline constexpr float kLn2Low = -2.12194440e-4f;
inline constexpr float kRound = 12583038.0f;  // 1.5 * 2^23 + 126
inline constexpr float kExpVanishes = -86.5f;
inline constexpr float kExpOverflows = 89.0f;
inline constexpr float kExpP[] = {2 * 0.001381455222f,
                                  2 * 0.008368745446f,
                                  2 * 0.041668388993f,
                                  2 * 0.166665211320f,
                                  2 * 0.499999940395f,
                                  2.0f,
                                  2.0f};
inline float exp_of(float x) {
  const bool vanishes = x < kExpVanishes;
  float y = vanishes ? 0.0f : x;
  y = y > kExpOverflows ? kExpOverflows : y;
  const float shifted = y * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (y - n * kLn2High) - n * kLn2Low;
  float p = kExpP[0];
  for (int i = 1; i < 7; ++i) p = p * r + kExpP[i];
  const float result = p * float_from_bits(float_bits(shifted) << 23);
  return vanishes ? 0.0f : result;
}
inline double exp_of(double x) { return std::exp(x); }

// 1 / (1 + e^-x), accurate for large negative x too.
inline float sigmoid_of(float x) { return 1.0f / (1.0f + exp_of(-x)); }
inline double sigmoid_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// x * p(x^2) / q(x^2) within [-1, 1]. At `limit`, a little beyond where it was fitted, the ratio
// exceeds 1, so that larger x give 1 exactly.
template <size_t kP, size_t kQ>
inline float odd_ratio(float x, float limit, const float (&p)[kP], const float (&q)[kQ]) {
  float y = x < -limit ? -limit : x;
  y = y > limit ? limit : y;
  const float z = y * y;
  float above = p[0], below = q[0];
  for (size_t i = 1; i < kP; ++i) above = above * z + p[i];
  for (size_t i = 1; i < kQ; ++i) below = below * z + q[i];
  float result = y * above / below;
  result = result > 1.0f ? 1.0f : result;
  return result < -1.0f ? -1.0f : result;
}

// Fitted on [0, 9], error 2e-8.
inline constexpr float kTanhLimit = 9.5f;
inline constexpr float kTanhP[] = {1.3354705e-08f, 2.0609115e-05f, 0.0034955903f, 0.13381028f,
                                   1.0f};
inline constexpr float kTanhQ[] = {7.776577e-07f, 0.00032856382f, 0.025876991f, 0.46714342f, 1.0f};
inline float tanh_of(float x) { return odd_ratio(x, kTanhLimit, kTanhP, kTanhQ); }
inline double tanh_of(double x) { return std::tanh(x); }

// Fitted on [0, 3.92], error 2e-8.
inline constexpr float kErfLimit = 4.04f;
inline constexpr float kErfP[] = {2.0500893e-06f, 0.00028488322f, 0.0037656275f,
                                  0.05274876f,    0.19040668f,    1.1283791f};
inline constexpr float kErfQ[] = {3.8091763e-05f, 0.0011625385f, 0.014969238f,
                                  0.1141092f,     0.50207627f,   1.0f};
inline float erf_of(float x) { return odd_ratio(x, kErfLimit, kErfP, kErfQ); }
inline double erf_of(double x) { return std::erf(x); }

// Rounding without calls of the C library, which do not vectorise on baseline x86-64. Adding and
// subtracting the smallest number from which on all floats are integers rounds off the fraction, to
// nearest even.
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
