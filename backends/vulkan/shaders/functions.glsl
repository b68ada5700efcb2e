// Functions of one number that PyTorch has, for any argument.

float log2_of(float x) { return is_nan(x) || x < 0.0 ? NAN : log2(x); }

float tanh_of(float x) {
  if (abs(x) < 0.04) {  // The series, where 1 - 2 / (e^2x + 1) cancels.
    float y = x * x;
    return x * (1.0 + y * (-0.33333334 + y * (0.13333334 - y * 0.053968254)));
  }
  if (is_nan(x)) return x;
  if (abs(x) > 10.0) return sign(x);
  return 1.0 - 2.0 / (exp(2.0 * x) + 1.0);
}

float sigmoid_of(float x) {
  float e = exp_of(-abs(x));
  return x < 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
}

// 1 - erf(x), also where that is small: a Chebyshev fit of erfc(x) exp(x^2) / t in t = 1 / (1 +
// x/2), exact to 1.2e-7 of the result.
float erfc_of(float x) {
  if (is_nan(x)) return x;
  float a = abs(x);
  float t = 1.0 / (1.0 + 0.5 * a);
  float y = -1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806 +
            t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 +
            t * 0.17087277))))))));
  float r = t * exp(-a * a + y);
  return x < 0.0 ? 2.0 - r : r;
}

// The series where 1 - erfc(x) cancels.
float erf_of(float x) {
  float y = x * x;
  if (is_nan(x)) return x;
  if (y >= 1.0) return sign(x) * (1.0 - erfc_of(abs(x)));
  return x * (1.1283791671 + y * (-0.3761263890 + y * (0.1128379167 + y * (-0.0268661706 +
         y * (0.0052239776 + y * (-0.0008548327 + y * (0.0001205533 + y * (-0.0000149257 +
         y * (0.0000016462 - y * 0.00000016366)))))))));
}

float gelu_of(float x) { return 0.5 * x * erfc_of(x * -0.70710678118); }

float expm1_of(float x) {
  if (abs(x) < 0.03) return x * (1.0 + x * (0.5 + x * (0.16666667 + x * 0.041666668)));
  return exp_of(x) - 1.0;
}

float log1p_of(float x) {
  if (abs(x) < 0.02) return x * (1.0 - x * (0.5 - x * (0.33333334 - x * (0.25 - x * 0.2))));
  return log_of(1.0 + x);
}

// Half to even, as PyTorch rounds.
float round_of(float x) { return roundEven(x); }

float pow_of(float x, float y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (is_nan(x) || is_nan(y)) return NAN;
  bool whole = floor(y) == y;
  bool odd = whole && abs(y) < 16777216.0 && mod(y, 2.0) == 1.0;
  float a = abs(x);
  float r;
  if (a == 1.0) {
    r = 1.0;
  } else if (a == 0.0) {
    r = y < 0.0 ? INFINITY : 0.0;
  } else if (abs(y) == INFINITY) {
    r = (a > 1.0) == (y > 0.0) ? INFINITY : 0.0;
  } else if (a == INFINITY) {
    r = y > 0.0 ? INFINITY : 0.0;
  } else if (y == 2.0) {
    r = x * x;
  } else if (y == 3.0) {
    r = a * a * a;
  } else if (y == 0.5) {
    r = sqrt(a);
  } else if (y == -1.0) {
    r = 1.0 / a;
  } else {
    r = pow(a, y);
  }
  bool negative = x < 0.0 || (x == 0.0 && floatBitsToUint(x) != 0u);
  if (negative && odd) return -r;
  if (x < 0.0 && !whole && a != INFINITY) return NAN;
  return r;
}

// The bits of 2 / pi behind the point, with a word of zeros before them.
const uint kTwoOverPi[8] = uint[](0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                  0xdb629599u, 0x3c439041u, 0xfe5163abu);

// x = (4 n + quarter) pi / 2 + the result, which lies between -pi / 4 and pi / 4: x times 2 / pi
// modulo 4 in integers, as Payne and Hanek found, since floats lose all of it where x is large.
// REQUIRES: x is finite.
float reduce_angle(float x, out uint quarter) {
  quarter = 0u;
  if (abs(x) < 0.785) return x;
  uint bits = floatBitsToUint(x);
  uint m = (bits & 0x7fffffu) | 0x800000u;
  // x = m 2^s. Bits of 2 / pi that give multiples of 4 are left out: the 96 after them are taken.
  uint first = (bits >> 23 & 255u) - 150u - 2u + 32u;
  uint word = first >> 5, shift = first & 31u;
  uint v[3];
  for (uint i = 0; i < 3; ++i) {
    uint next = shift == 0u ? 0u : kTwoOverPi[min(word + i + 1u, 7u)] >> (32u - shift);
    v[i] = kTwoOverPi[min(word + i, 7u)] << shift | next;
  }
  uint high2, low2, high1, low1, carry;
  umulExtended(m, v[2], high2, low2);
  umulExtended(m, v[1], high1, low1);
  uint p1 = uaddCarry(low1, high2, carry);
  uint p0 = m * v[0] + high1 + carry;
  quarter = p0 >> 30;
  int high = int(p0 << 2 | p1 >> 30);  // As a fraction of a quarter, from -1/2 to 1/2.
  uint low = p1 << 2 | low2 >> 30;
  if (high < 0) ++quarter;
  float angle = (float(high) * 2.3283064365e-10 + float(low) * 5.4210108624e-20) * 1.5707963268;
  if ((bits >> 31) == 0u) return angle;
  quarter = 0u - quarter;
  return -angle;
}

// Of the angle, in the quarters around 0.
float sin_near_0(float r) {
  float y = r * r;
  return r + r * y * (-0.16666655 + y * (0.0083321609 - y * 0.00019515296));
}
float cos_near_0(float r) {
  float y = r * r;
  return 1.0 - 0.5 * y + y * y * (0.041666646 + y * (-0.0013887316 + y * 0.000024433157));
}

float sin_of_quarter(float r, uint quarter) {
  float a = (quarter & 1u) == 0u ? sin_near_0(r) : cos_near_0(r);
  return (quarter & 2u) == 0u ? a : -a;
}

// GPUs' own are exact to 2^-11 and for small angles only.
float sin_of(float x) {
  if (is_nan(x) || abs(x) == INFINITY) return NAN;
  uint quarter;
  float r = reduce_angle(x, quarter);
  return sin_of_quarter(r, quarter);
}
float cos_of(float x) {
  if (is_nan(x) || abs(x) == INFINITY) return NAN;
  uint quarter;
  float r = reduce_angle(x, quarter);
  return sin_of_quarter(r, quarter + 1u);
}
float tan_of(float x) {
  if (is_nan(x) || abs(x) == INFINITY) return NAN;
  uint quarter;
  float r = reduce_angle(x, quarter);
  return sin_of_quarter(r, quarter) / sin_of_quarter(r, quarter + 1u);
}

// Of -1/2 to 1/2: a fit, exact to the last digits.
float asin_near_0(float x) {
  float y = x * x;
  return x + x * y * (0.1666675242 + y * (0.07495300269 + y * (0.04547002600 + y * (0.02418131105 +
         y * 0.04216319905))));
}
float asin_of(float x) {
  float a = abs(x);
  if (is_nan(x) || a > 1.0) return NAN;
  if (a <= 0.5) return asin_near_0(x);
  float r = 1.5707963268 - 2.0 * asin_near_0(sqrt(0.5 * (1.0 - a)));
  return x < 0.0 ? -r : r;
}
float acos_of(float x) {
  float a = abs(x);
  if (is_nan(x) || a > 1.0) return NAN;
  if (a <= 0.5) return 1.5707963268 - asin_near_0(x);
  float r = 2.0 * asin_near_0(sqrt(0.5 * (1.0 - a)));
  return x < 0.0 ? 3.1415926536 - r : r;
}

float atan_of(float x) {
  float a = abs(x);
  if (is_nan(x)) return x;
  float first = 0.0;
  if (a > 2.4142135624) {
    first = 1.5707963268;
    a = -1.0 / a;
  } else if (a > 0.4142135624) {
    first = 0.7853981634;
    a = (a - 1.0) / (a + 1.0);
  }
  float y = a * a;
  float r = first + (a + a * y * (-0.333329491539 + y * (0.199777106478 + y * (-0.138776856032 +
            y * 0.0805374449538))));
  return x < 0.0 ? -r : r;
}

// A positive finite number as m 2^e; m has at most 24 bits.
uint mantissa_of(float x, out int e) {
  uint bits = floatBitsToUint(x);
  uint biased = bits >> 23;
  e = int(max(biased, 1u)) - 150;
  return biased == 0u ? bits : (bits & 0x7fffffu) | 0x800000u;
}

float power_of_2(int e) { return uintBitsToFloat(uint(e + 127) << 23); }

// The remainder of x / y with the sign of x, exactly: long division, eight bits at a time.
float fmod_of(float x, float y) {
  float a = abs(x), b = abs(y);
  if (is_nan(x) || is_nan(y) || a == INFINITY || b == 0.0) return NAN;
  if (a < b) return x;
  int e, end;
  uint r = mantissa_of(a, e), d = mantissa_of(b, end);
  r %= d;
  while (e > end && r != 0u) {
    int step = min(e - end, 8);
    r = (r << step) % d;
    e -= step;
  }
  // r 2^end in two steps, since a factor alone may be too small.
  float result = float(r) * power_of_2(end / 2) * power_of_2(end - end / 2);
  return x < 0.0 ? -result : result;
}

// The remainder with the sign of y.
float remainder_of(float x, float y) {
  float r = fmod_of(x, y);
  return r != 0.0 && (r < 0.0) != (y < 0.0) ? r + y : r;
}

// The quotient rounded down, as Python does it: from the remainder.
float floor_divide(float x, float y) {
  if (y == 0.0) return x / y;
  float r = fmod_of(x, y);
  float quotient = (x - r) / y;
  if (r != 0.0 && (r < 0.0) != (y < 0.0)) quotient -= 1.0;
  if (quotient == 0.0) return (x < 0.0) != (y < 0.0) ? -0.0 : 0.0;
  float down = floor(quotient);
  return quotient - down > 0.5 ? down + 1.0 : down;
}
