// Bessel and Airy functions and relatives of the error function, in float64: each is a smooth
// factor, given by a Chebyshev series (series.h), times elementary functions that grow, decay or
// oscillate.
//
//   I0(x) = exp(|x|) series(x / 4 - 1)                      up to 8
//         = exp(|x|) / sqrt(|x|) series(16 / x - 1)         beyond

#include <cmath>
#include <limits>
#include <numbers>

#include "exir/decompose/rules.h"
#include "exir/decompose/special/series.h"

namespace taper::exir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Value* wide_self(Builder& b) { return b.cast(b.args().at(0).value(), ScalarType::kDouble); }
Value* abs(Builder& b, Value* x) { return b.op("abs", {x}); }
Value* exp(Builder& b, Value* x) { return b.op("exp", {x}); }
Value* log(Builder& b, Value* x) { return b.op("log", {x}); }
Value* sqrt(Builder& b, Value* x) { return b.op("sqrt", {x}); }
Value* inverse(Builder& b, Value* x) { return b.op("reciprocal", {x}); }
Value* negative(Builder& b, Value* x) { return b.op("neg", {x}); }
Value* minus_from(Builder& b, double number, Value* x) { return b.op("rsub.Scalar", {x, number}); }
Value* less(Builder& b, Value* x, double limit) { return b.op("lt.Scalar", {x, limit}); }
Value* up_to(Builder& b, Value* x, double limit) { return b.op("le.Scalar", {x, limit}); }
Value* is(Builder& b, Value* x, double number) { return b.op("eq.Scalar", {x, number}); }

// The Chebyshev series c[0] + c[1] T1(t) + ..., by Clenshaw's recurrence.
template <size_t kTerms>
Value* series(Builder& b, const double (&c)[kTerms], Value* t) {
  Value* twice = b.mul(t, 2.0);
  Value* before = b.mul(t, 0.0);
  Value* sum = b.add(before, c[kTerms - 1]);
  for (size_t i = kTerms - 1; i-- > 0;) {
    Value* next = b.sub(b.mul(i == 0 ? t : twice, sum), before);
    before = sum;
    sum = b.add(next, c[i]);
  }
  return sum;
}

// Arguments of series: a * x * x - 1 and a / x - 1.
Value* of_square(Builder& b, Value* x, double a) { return b.sub(b.mul(b.mul(x, x), a), 1.0); }
Value* of_inverse(Builder& b, Value* x, double a) { return b.sub(b.mul(inverse(b, x), a), 1.0); }

// ---- modified Bessel functions: I and K ----

// I(x) exp(-|x|) of the orders 0 and 1, for x >= 0.
Value* scaled_i(Builder& b, int order, Value* x) {
  Value* near_at = b.sub(b.mul(x, 0.25), 1.0);
  Value* far_at = of_inverse(b, x, 16);
  Value* near = order == 0 ? series(b, series::kI0Near, near_at)
                           : b.mul(series(b, series::kI1Near, near_at), x);
  Value* far = order == 0 ? series(b, series::kI0Far, far_at) : series(b, series::kI1Far, far_at);
  return b.where(up_to(b, x, 8), near, b.div(far, sqrt(b, x)));
}
Value* with_sign_of(Builder& b, Value* x, Value* y) {
  return b.where(less(b, x, 0), negative(b, y), y);
}
template <int kOrder, bool kScaled>
void bessel_i(Builder& b) {
  Value* x = wide_self(b);
  Value* size = abs(b, x);
  Value* y = scaled_i(b, kOrder, size);
  if (!kScaled) y = b.mul(y, exp(b, size));
  b.result(kOrder == 0 ? y : with_sign_of(b, x, y));
}

template <int kOrder, bool kScaled>
void bessel_k(Builder& b) {
  Value* x = wide_self(b);
  Value* growth = exp(b, x);
  Value* product = b.mul(b.mul(scaled_i(b, kOrder, x), growth), log(b, b.mul(x, 0.5)));
  Value* near_at = of_square(b, x, 0.5);
  Value* far_at = of_inverse(b, x, 4);
  Value* near = kOrder == 0 ? b.sub(series(b, series::kK0Near, near_at), product)
                            : b.add(b.div(series(b, series::kK1Near, near_at), x), product);
  Value* far = kOrder == 0 ? series(b, series::kK0Far, far_at) : series(b, series::kK1Far, far_at);
  far = b.div(far, sqrt(b, x));
  if (kScaled) {
    near = b.mul(near, growth);
  } else {
    far = b.mul(far, exp(b, negative(b, x)));
  }
  Value* y = b.where(up_to(b, x, 2), near, far);
  y = b.where(is(b, x, 0), kInfinity, y);
  b.result(b.where(less(b, x, 0), kNan, y));
}

// ---- Bessel functions: J and Y ----

// For large x, J is sqrt(2 / (pi x)) (P cos(phase) - Q sin(phase)) and Y, the second kind, is
// sqrt(2 / (pi x)) (P sin(phase) + Q cos(phase)).
Value* far_wave(Builder& b, int order, Value* x, bool second_kind) {
  Value* at = b.sub(b.mul(inverse(b, b.mul(x, x)), 128.0), 1.0);
  Value* p = order == 0 ? series(b, series::kWave0Cosine, at) : series(b, series::kWave1Cosine, at);
  Value* q = order == 0 ? series(b, series::kWave0Sine, at) : series(b, series::kWave1Sine, at);
  q = b.div(q, x);
  Value* phase = b.sub(x, (2 * order + 1) * std::numbers::pi / 4);
  Value* cosine = b.op("cos", {phase});
  Value* sine = b.op("sin", {phase});
  Value* wave = second_kind ? b.add(b.mul(p, sine), b.mul(q, cosine))
                            : b.sub(b.mul(p, cosine), b.mul(q, sine));
  return b.mul(wave, sqrt(b, b.mul(inverse(b, x), 2 / std::numbers::pi)));
}
Value* near_j(Builder& b, int order, Value* x) {
  Value* at = of_square(b, x, 1.0 / 32);
  return order == 0 ? series(b, series::kJ0Near, at) : b.mul(series(b, series::kJ1Near, at), x);
}
template <int kOrder>
void bessel_j(Builder& b) {
  Value* x = wide_self(b);
  Value* size = abs(b, x);
  Value* y = b.where(up_to(b, size, 8), near_j(b, kOrder, size), far_wave(b, kOrder, size, false));
  b.result(kOrder == 0 ? y : with_sign_of(b, x, y));
}
template <int kOrder>
void bessel_y(Builder& b) {
  Value* x = wide_self(b);
  Value* at = of_square(b, x, 1.0 / 32);
  Value* product = b.mul(log(b, x), near_j(b, kOrder, x));
  if (kOrder == 1) product = b.sub(product, inverse(b, x));
  Value* rest =
      kOrder == 0 ? series(b, series::kY0Near, at) : b.mul(series(b, series::kY1Near, at), x);
  Value* near = b.add(rest, b.mul(product, 2 / std::numbers::pi));
  Value* y = b.where(up_to(b, x, 8), near, far_wave(b, kOrder, x, true));
  y = b.where(is(b, x, 0), -kInfinity, y);
  b.result(b.where(less(b, x, 0), kNan, y));
}

// sin(x) / x; near 0 the first terms of its Taylor series.
void spherical_j0(Builder& b) {
  Value* x = wide_self(b);
  Value* square = b.mul(x, x);
  Value* near = b.add(b.mul(square, 0.0), 1.0);
  for (int k = 6; k > 0; --k) {  // 1 - x x / (2 3) (1 - x x / (4 5) (...))
    near = minus_from(b, 1.0, b.mul(b.mul(square, near), 1.0 / (2 * k * (2 * k + 1))));
  }
  Value* y = b.where(less(b, abs(b, x), 0.5), near, b.div(b.op("sin", {x}), x));
  b.result(b.where(b.op("isinf", {x}), 0.0, y));
}

void airy_ai(Builder& b) {
  Value* x = wide_self(b);
  Value* size = abs(b, x);
  Value* root = sqrt(b, size);
  Value* zeta = b.mul(b.mul(size, root), 2.0 / 3);
  Value* quarter = b.mul(sqrt(b, root), std::sqrt(std::numbers::pi));
  Value* near = series(b, series::kAiryNear, b.mul(b.add(x, 2.0), 0.25));
  Value* right_at = b.sub(b.mul(inverse(b, zeta), 8 * std::sqrt(2.0) / 3), 1.0);
  Value* right = b.mul(series(b, series::kAiryRight, right_at), exp(b, negative(b, zeta)));
  right = b.div(b.mul(right, 0.5), quarter);
  Value* left_at = b.sub(b.mul(inverse(b, b.mul(zeta, zeta)), 192.0), 1.0);
  Value* phase = b.add(zeta, std::numbers::pi / 4);
  Value* sine = b.mul(series(b, series::kAiryWaveSine, left_at), b.op("sin", {phase}));
  Value* cosine = b.mul(series(b, series::kAiryWaveCosine, left_at), b.op("cos", {phase}));
  Value* left = b.div(b.sub(sine, b.div(cosine, zeta)), quarter);
  Value* y = b.where(up_to(b, x, 2), near, right);
  y = b.where(less(b, x, -6), left, y);
  b.result(b.where(b.op("isinf", {x}), kNan, y));
}

// ---- relatives of the error function ----

// exp(x x) erfc(x); for x < 0 by erfc(-x) = 2 - erfc(x).
Value* scaled_erfc(Builder& b, Value* x) {
  Value* size = abs(b, x);
  Value* moved = b.add(size, 3.0);
  Value* y = b.div(series(b, series::kErfcx, of_inverse(b, moved, 6)), moved);
  Value* mirror = b.sub(b.mul(exp(b, b.mul(x, x)), 2.0), y);
  return b.where(less(b, x, 0), mirror, y);
}
void erfcx(Builder& b) { b.result(scaled_erfc(b, wide_self(b))); }

// log(erfc(-x / sqrt(2)) / 2)
void log_ndtr(Builder& b) {
  Value* x = wide_self(b);
  Value* t = b.mul(x, std::sqrt(0.5));
  Value* low = b.sub(log(b, b.mul(scaled_erfc(b, negative(b, t)), 0.5)), b.mul(t, t));
  Value* high = b.op("log1p", {b.mul(b.op("erfc", {t}), -0.5)});
  b.result(b.where(less(b, x, -1), low, high));
}

// The quantile function of the normal distribution: the x with ndtr(x) = p.
void ndtri(Builder& b) {
  Value* p = wide_self(b);
  Value* w = b.sub(p, 0.5);
  Value* centre = b.mul(w, series(b, series::kNormalCentre, of_square(b, w, 1 / 0.07)));
  Value* upper = b.op("gt.Scalar", {w, 0.0});
  Value* part = b.where(upper, minus_from(b, 1.0, p), p);
  Value* y = sqrt(b, b.mul(log(b, part), -2.0));
  Value* over = inverse(b, y);
  Value* near = series(b, series::kNormalTail, b.sub(b.mul(over, 6.0), 2.0));
  Value* far = series(b, series::kNormalFarTail, b.sub(b.mul(over, 240.0 / 17), 23.0 / 17));
  Value* rest = b.mul(b.add(log(b, y), b.where(up_to(b, y, 6), near, far)), over);
  Value* tail = b.sub(y, rest);
  tail = b.where(upper, tail, negative(b, tail));
  Value* x = b.where(up_to(b, part, std::exp(-2.0)), tail, centre);
  x = b.where(is(b, p, 0), -kInfinity, x);
  x = b.where(is(b, p, 1), kInfinity, x);
  Value* outside = b.op("logical_or", {less(b, p, 0), b.op("gt.Scalar", {p, 1.0})});
  b.result(b.where(outside, kNan, x));
}

}  // namespace

const Decompositions& bessel_rules() {
  static const Decompositions table = {
      {"i0", bessel_i<0, false>},
      {"special_i0", bessel_i<0, false>},
      {"special_modified_bessel_i0", bessel_i<0, false>},
      {"special_i0e", bessel_i<0, true>},
      {"special_i1", bessel_i<1, false>},
      {"special_modified_bessel_i1", bessel_i<1, false>},
      {"special_i1e", bessel_i<1, true>},
      {"special_modified_bessel_k0", bessel_k<0, false>},
      {"special_modified_bessel_k1", bessel_k<1, false>},
      {"special_scaled_modified_bessel_k0", bessel_k<0, true>},
      {"special_scaled_modified_bessel_k1", bessel_k<1, true>},
      {"special_bessel_j0", bessel_j<0>},
      {"special_bessel_j1", bessel_j<1>},
      {"special_bessel_y0", bessel_y<0>},
      {"special_bessel_y1", bessel_y<1>},
      {"special_spherical_bessel_j0", spherical_j0},
      {"special_airy_ai", airy_ai},
      {"special_erfcx", erfcx},
      {"special_log_ndtr", log_ndtr},
      {"special_ndtri", ndtri},
  };
  return table;
}

}  // namespace taper::exir
