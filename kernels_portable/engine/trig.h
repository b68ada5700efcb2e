// Inverse trigonometric functions in double precision, from one short series, within three units in
// the last place. Those of the C library are within one, but their tables are as large as most of
// the kernels together. In float the C library's functions are small and are used as they are.

#pragma once

#include <cmath>

namespace taper::portable {

// atan(x) for 0 <= x <= 1, as atan(k / 8) + atan(t) with the nearest k: |t| is below 1/16, where
// the Taylor series needs eight terms.
inline double atan_of_fraction(double x) {
  constexpr double kEighths[] = {0.0,
                                 0.12435499454676144,
                                 0.24497866312686414,
                                 0.35877067027057225,
                                 0.46364760900080609,
                                 0.5585993153435624,
                                 0.64350110879328437,
                                 0.71882999962162453,
                                 0.78539816339744828};
  const int k = static_cast<int>(x * 8 + 0.5);
  const double c = k * 0.125;
  const double t = (x - c) / (1 + x * c);
  const double z = t * t;
  double p = -1.0 / 15;
  for (int odd = 13; odd > 1; odd -= 2) p = p * z + ((odd & 2) != 0 ? -1.0 : 1.0) / odd;
  return kEighths[k] + (t + t * z * p);
}

// The angle of the point (x, y): NaN if either is, and signed zeros count.
inline double atan2_of(double y, double x) {
  constexpr double kPi = 3.1415926535897931, kPiRest = 1.2246467991473532e-16;
  const double a = std::fabs(y), b = std::fabs(x);
  if (a != a || b != b) return y + x;
  const bool steep = a > b;
  const double high = steep ? a : b, low = steep ? b : a;
  const double ratio = low == high ? (high == 0 ? 0.0 : 1.0) : low / high;
  double angle = atan_of_fraction(ratio);
  if (steep) angle = kPi / 2 - (angle - kPiRest / 2);
  if (std::signbit(x)) angle = kPi - (angle - kPiRest);
  return std::copysign(angle, y);
}
inline double atan_of(double x) { return atan2_of(x, 1.0); }
// NaN outside of [-1, 1], because the square root is NaN there.
inline double asin_of(double x) { return atan2_of(x, std::sqrt((1 - x) * (1 + x))); }
inline double acos_of(double x) { return atan2_of(std::sqrt((1 - x) * (1 + x)), x); }
inline double tan_of(double x) { return std::sin(x) / std::cos(x); }

inline float atan2_of(float y, float x) { return std::atan2(y, x); }
inline float atan_of(float x) { return std::atan(x); }
inline float asin_of(float x) { return std::asin(x); }
inline float acos_of(float x) { return std::acos(x); }
inline float tan_of(float x) { return std::tan(x); }

}  // namespace taper::portable
