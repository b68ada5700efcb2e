// Functions of one number that PyTorch has, for any argument.

float tanh_of(float x) {
  if (abs(x) < 0.04) {  // The series, where 1 - 2 / (e^2x + 1) cancels.
    float y = x * x;
    return x * (1.0 + y * (-0.33333334 + y * (0.13333334 - y * 0.053968254)));
  }
  if (abs(x) > 10.0) return is_nan(x) ? x : sign(x);
  return 1.0 - 2.0 / (exp(2.0 * x) + 1.0);
}

float sigmoid_of(float x) {
  return x < 0.0 ? 1.0 - 1.0 / (1.0 + exp(x)) + 0.0 * x : 1.0 / (1.0 + exp(-x));
}

// Abramowitz and Stegun 7.1.26 is not exact enough near 0, where the series is used.
float erf_of(float x) {
  float a = abs(x);
  if (is_nan(x)) return x;
  if (a > 4.0) return sign(x);
  if (a < 1.0) {
    float y = x * x;
    return x * (1.1283791671 + y * (-0.3761263890 + y * (0.1128379167 + y * (-0.0268661706 +
           y * (0.0052239776 + y * (-0.0008548327 + y * 0.0001205533))))));
  }
  // A continued fraction of erfc: exp(-x^2) / sqrt(pi) * 1 / (x + (1/2) / (x + 1 / (x + (3/2) / ...
  float f = a;
  for (int k = 24; k >= 1; --k) f = a + (float(k) * 0.5) / f;
  return sign(x) * (1.0 - exp(-a * a) * 0.5641895835 / f);
}

float expm1_of(float x) {
  if (abs(x) < 0.03) return x * (1.0 + x * (0.5 + x * (0.16666667 + x * 0.041666668)));
  return exp(x) - 1.0;
}

float log1p_of(float x) {
  if (abs(x) < 0.02) return x * (1.0 - x * (0.5 - x * (0.33333334 - x * (0.25 - x * 0.2))));
  return log(1.0 + x);
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
