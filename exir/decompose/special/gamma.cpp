// The gamma function and its relatives, in float64.
//
//   zeta(s, q) = 1 / q^s + 1 / (q + 1)^s + ...      nine terms, the rest by Euler-Maclaurin
//   polygamma(n, x) = (-1)^(n + 1) n! zeta(n + 1, x)

#include <cmath>
#include <limits>
#include <numbers>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// pi times the signed distance of x from the nearest integer: its tangent, and its sine up to the
// sign, are those of pi x.
Value* reduced_angle(Builder& b, Value* x) {
  return b.mul(b.sub(x, b.op("round", {x})), std::numbers::pi);
}

// log(|gamma(x)|) by Lanczos' series with g = 7 for x >= 1/2, by the reflection formula below.
Value* log_gamma(Builder& b, Value* x) {
  constexpr double kSeries[] = {676.5203681218851,     -1259.1392167224028,  771.32342877765313,
                                -176.61502916214059,   12.507343278686905,   -0.13857109526572012,
                                9.9843695780195716e-6, 1.5056327351493116e-7};
  Value* low = b.op("lt.Scalar", {x, 0.5});
  Value* y = b.sub(b.where(low, b.op("rsub.Scalar", {x, 1.0}), x), 1.0);
  Value* series = b.op("reciprocal", {b.add(y, 1.0)});
  series = b.add(b.mul(series, kSeries[0]), 0.99999999999980993);
  for (int i = 1; i < 8; ++i) {
    series = b.add(series, b.mul(b.op("reciprocal", {b.add(y, i + 1.0)}), kSeries[i]));
  }
  Value* t = b.add(y, 7.5);
  Value* power = b.sub(b.mul(b.add(y, 0.5), b.op("log", {t})), t);
  Value* high = b.add(b.add(power, b.op("log", {series})), 0.5 * std::log(2 * std::numbers::pi));
  Value* sine = b.op("log", {b.op("abs", {b.op("sin", {reduced_angle(b, x)})})});
  Value* out =
      b.where(low, b.sub(b.op("rsub.Scalar", {sine, std::log(std::numbers::pi)}), high), high);
  return b.where(b.op("isinf", {x}), kInfinity, out);
}
Value* wide_self(Builder& b) { return b.cast(b.in("self"), ScalarType::kDouble); }
void lgamma(Builder& b) { b.result(log_gamma(b, wide_self(b))); }
void multigammaln(Builder& b) {
  const int64_t p = b.arg("p").to_int();
  if (p < 1 || p > 1000) throw Failure("multigammaln of " + std::to_string(p) + " dimensions");
  const double count = static_cast<double>(p);
  Value* x = wide_self(b);
  Value* sum = log_gamma(b, x);
  for (int64_t i = 1; i < p; ++i) {
    sum = b.add(sum, log_gamma(b, b.sub(x, 0.5 * static_cast<double>(i))));
  }
  b.result(b.add(sum, count * (count - 1) / 4 * std::log(std::numbers::pi)));
}

// The derivative of log(gamma(x)): the recurrence up to x + 8, then the asymptotic series; for
// x < 1/2 by reflection.
void digamma(Builder& b) {
  constexpr double kSeries[] = {-1.0 / 12, 1.0 / 120, -1.0 / 252, 1.0 / 240, -1.0 / 132};
  Value* x = wide_self(b);
  Value* low = b.op("lt.Scalar", {x, 0.5});
  Value* y = b.where(low, b.op("rsub.Scalar", {x, 1.0}), x);
  Value* steps = b.op("reciprocal", {y});
  for (int i = 1; i < 8; ++i) steps = b.add(steps, b.op("reciprocal", {b.add(y, 1.0 * i)}));
  Value* inverse = b.op("reciprocal", {b.add(y, 8.0)});
  Value* square = b.mul(inverse, inverse);
  Value* tail = b.mul(square, kSeries[4]);
  for (int i = 3; i >= 0; --i) tail = b.mul(square, b.add(tail, kSeries[i]));
  Value* out = b.sub(b.op("log", {b.add(y, 8.0)}), b.mul(inverse, 0.5));
  out = b.sub(b.add(out, tail), steps);
  Value* mirror = b.mul(b.op("reciprocal", {b.op("tan", {reduced_angle(b, x)})}), std::numbers::pi);
  out = b.where(low, b.sub(out, mirror), out);
  Value* whole = b.op("eq.Tensor", {x, b.op("floor", {x})});
  Value* pole = b.op("logical_and", {whole, b.op("lt.Scalar", {x, 0})});
  out = b.where(pole, std::numeric_limits<double>::quiet_NaN(), out);
  Value* edge = b.op("neg", {b.op("reciprocal", {x})});
  b.result(b.where(b.op("eq.Scalar", {x, 0}), edge, out));
}

// ---- zeta ----

// zeta(s, q) for s > 1 and q > 0.
Value* zeta_right(Builder& b, Value* s, Value* q) {
  constexpr int kTerms = 9, kCorrections = 12;
  // The Bernoulli numbers B2, B4, ... over 2!, 4!, ...
  constexpr double kBernoulli[kCorrections] = {1.0 / 12,
                                               -1.0 / 720,
                                               1.0 / 30240,
                                               -1.0 / 1209600,
                                               1.0 / 47900160,
                                               -691.0 / 1307674368000,
                                               1.0 / 74724249600,
                                               -3617.0 / 10670622842880000,
                                               43867.0 / 5109094217170944000,
                                               -174611.0 / 802857662698291200000.0,
                                               77683.0 / 14101100039391805440000.0,
                                               -236364091.0 / 1693824136731743669452800000.0};
  Value* power = b.op("neg", {s});
  Value* sum = b.op("pow.Tensor_Tensor", {q, power});
  for (int k = 1; k < kTerms; ++k) {
    sum = b.add(sum, b.op("pow.Tensor_Tensor", {b.add(q, 1.0 * k), power}));
  }
  Value* w = b.add(q, 1.0 * kTerms);
  Value* last = b.op("pow.Tensor_Tensor", {w, power});
  sum = b.add(sum, b.mul(b.mul(last, w), b.op("reciprocal", {b.sub(s, 1.0)})));
  sum = b.add(sum, b.mul(last, 0.5));
  Value* steps = b.op("clamp", {s, Argument(), 1e4});  // For a larger s, `last` is 0.
  Value* over = b.op("reciprocal", {w});
  Value* factor = b.mul(b.mul(steps, last), over);
  for (int k = 0; k < kCorrections; ++k) {
    sum = b.add(sum, b.mul(factor, kBernoulli[k]));
    Value* grown = b.mul(b.add(steps, 2.0 * k + 1), b.add(steps, 2.0 * k + 2));
    factor = b.mul(b.mul(b.mul(factor, grown), over), over);
  }
  return sum;
}

// For q <= 0, the terms with a negative base are those of |q|, |q| - 1, ... with the sign (-1)^s.
Value* zeta_of(Builder& b, Value* s, Value* q) {
  Value* size = b.op("abs", {q});
  Value* part = b.sub(size, b.op("floor", {size}));
  Value* low = b.op("le.Scalar", {q, 0.0});
  Value* mirrored = b.sub(zeta_right(b, s, part), zeta_right(b, s, b.add(size, 1.0)));
  Value* odd = b.op("eq.Scalar", {b.op("remainder.Scalar", {s, 2.0}), 1.0});
  mirrored = b.where(odd, b.op("neg", {mirrored}), mirrored);
  Value* rest = b.op("rsub.Scalar", {part, 1.0});
  Value* right = zeta_right(b, s, b.where(low, rest, q));
  Value* y = b.where(low, b.add(right, mirrored), right);
  Value* whole = b.op("eq.Tensor", {s, b.op("floor", {s})});
  y = b.where(b.op("logical_and", {low, b.op("logical_not", {whole})}), kNan, y);
  Value* pole = b.op("logical_and", {low, b.op("eq.Scalar", {part, 0.0})});
  y = b.where(pole, kInfinity, y);
  y = b.where(b.op("eq.Scalar", {q, kInfinity}), 0.0, y);
  y = b.where(b.op("eq.Scalar", {s, 1.0}), kInfinity, y);
  return b.where(b.op("lt.Scalar", {s, 1.0}), kNan, y);
}

// An operand in float64, a number as a 0-d tensor.
Value* wide_operand(Builder& b, size_t i) {
  const Argument& arg = b.args().at(i);
  const bool tensor = arg.is_value() && arg.value()->kind == ValueKind::kTensor;
  return tensor ? b.cast(arg.value(), ScalarType::kDouble)
                : b.constant(arg.to_double(), ScalarType::kDouble);
}
// The same, expanded to the sizes of the result.
Value* spread_operand(Builder& b, size_t i) {
  return b.expand(wide_operand(b, i), b.out_type().sizes);
}
void zeta(Builder& b) { b.result(zeta_of(b, spread_operand(b, 0), spread_operand(b, 1))); }

// PyTorch reflects by pi^2 / sin(pi x)^2 in x's own precision, which is large but finite at a pole.
Value* trigamma_at_poles(Builder& b, Value* y) {
  Value* x = b.cast(b.in("self"), b.wide_type());
  Value* sine = b.op("sin", {b.mul(x, std::numbers::pi)});
  Value* pole = b.mul(b.op("reciprocal", {b.mul(sine, sine)}), std::numbers::pi * std::numbers::pi);
  Value* whole = b.op("eq.Tensor", {x, b.op("floor", {x})});
  whole = b.op("logical_and", {whole, b.op("lt.Scalar", {x, 0.0})});
  return b.where(whole, b.cast(pole, ScalarType::kDouble), y);
}

void polygamma(Builder& b) {
  const int64_t n = b.arg("n").to_int();
  if (n == 0) return digamma(b);
  if (n < 0) throw Failure("polygamma of the negative order " + std::to_string(n));
  Value* x = wide_self(b);
  Value* order = b.constant(static_cast<double>(n) + 1, ScalarType::kDouble);
  Value* y = zeta_of(b, b.expand(order, x->type.sizes), x);
  const double factor = std::exp(std::lgamma(static_cast<double>(n) + 1));
  y = b.mul(y, n % 2 != 0 ? factor : -factor);
  b.result(n == 1 ? trigamma_at_poles(b, y) : y);
}

// ---- the incomplete gamma functions ----

constexpr double kClose = 1e-15;
constexpr double kTiny = 1e-300;
constexpr double kMostSteps = 4000;  // A few tens of sqrt(a), for a up to kLarge.
constexpr double kLarge = 1e4;

// Whether some element has not converged yet and steps are left.
Value* any_open(Builder& b, Value* open, Value* step) {
  return b.op("logical_and", {b.op("any", {open}), b.op("lt.Scalar", {step, kMostSteps})});
}

// 1 / a + x / (a (a + 1)) + ..., which converges fast for x < a + 1.
Value* lower_series(Builder& b, Value* a, Value* x) {
  Value* first = b.op("reciprocal", {a});
  Value* one = b.constant(1, ScalarType::kDouble);
  return b.loop(
      {first, first, one}, {a, x},
      [](Builder& body, const Builder::Values& in) -> Builder::Values {
        Value* open = body.op("gt.Tensor", {in[1], body.mul(in[0], kClose)});
        return {any_open(body, open, in[2])};
      },
      [](Builder& body, const Builder::Values& in) -> Builder::Values {
        Value* term = body.mul(in[1], body.div(in[4], body.add(in[3], in[2])));
        return {body.add(in[0], term), term, body.add(in[2], 1.0)};
      })[0];
}

// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), evaluated from the front by Lentz's method, for
// x > a.
Value* upper_fraction(Builder& b, Value* a, Value* x) {
  Value* bottom = b.sub(b.add(x, 1.0), a);
  Value* over = b.op("reciprocal", {bottom});
  Value* c = b.add(b.mul(x, 0.0), 1 / kTiny);
  Value* change = b.mul(c, 1.0);
  Value* one = b.constant(1, ScalarType::kDouble);
  return b.loop(
      {over, over, c, bottom, change, one}, {a},
      [](Builder& body, const Builder::Values& in) -> Builder::Values {
        Value* off = body.op("abs", {body.sub(in[4], 1.0)});
        return {any_open(body, body.op("gt.Scalar", {off, kClose}), in[5])};
      },
      [](Builder& body, const Builder::Values& in) -> Builder::Values {
        const auto away_from_zero = [&](Value* v) {
          return body.where(body.op("eq.Scalar", {v, 0.0}), kTiny, v);
        };
        Value* top = body.mul(body.sub(in[6], in[5]), in[5]);
        Value* next = body.add(in[3], 2.0);
        Value* d = away_from_zero(body.add(body.mul(top, in[1]), next));
        d = body.op("reciprocal", {d});
        Value* up = away_from_zero(body.add(next, body.div(top, in[2])));
        Value* factor = body.mul(d, up);
        return {body.mul(in[0], factor), d, up, next, factor, body.add(in[5], 1.0)};
      })[0];
}

// For large a: half of erfc(eta sqrt(a / 2)), eta * eta / 2 = x / a - 1 - log(x / a), and the first
// correction.
Value* upper_of_large(Builder& b, Value* a, Value* x) {
  Value* mu = b.sub(b.div(x, a), 1.0);
  Value* half = b.sub(mu, b.op("log1p", {mu}));
  // mu - log1p(mu) cancels near 0: there its series is used.
  Value* small = b.op("lt.Scalar", {b.op("abs", {mu}), 0.01});
  Value* series = b.mul(mu, 0.0);
  for (int k = 9; k >= 2; --k) {
    series = b.add(b.mul(series, b.op("neg", {mu})), 1.0 / k);
  }
  half = b.where(small, b.mul(series, b.mul(mu, mu)), half);
  Value* eta = b.op("sqrt", {b.mul(half, 2.0)});
  eta = b.where(b.op("lt.Scalar", {mu, 0.0}), b.op("neg", {eta}), eta);
  Value* main = b.mul(b.op("erfc", {b.mul(eta, b.op("sqrt", {b.mul(a, 0.5)}))}), 0.5);
  Value* near = b.add(b.mul(eta, b.add(b.mul(eta, -2.0 / 135), 1.0 / 12)), -1.0 / 3);
  Value* far = b.sub(b.op("reciprocal", {mu}), b.op("reciprocal", {eta}));
  Value* first = b.where(b.op("lt.Scalar", {b.op("abs", {eta}), 1e-3}), near, far);
  Value* weight = b.op("exp", {b.op("neg", {b.mul(half, a)})});
  weight = b.div(weight, b.op("sqrt", {b.mul(a, 2 * std::numbers::pi)}));
  return b.add(main, b.mul(weight, first));
}

void incomplete_gamma(Builder& b, bool upper) {
  Value* a = spread_operand(b, 0);
  Value* x = spread_operand(b, 1);
  const auto both = [&](Value* p, Value* q) { return b.op("logical_and", {p, q}); };
  const auto is = [&](Value* v, double number) { return b.op("eq.Scalar", {v, number}); };
  Value* large = b.op("gt.Scalar", {a, kLarge});
  Value* plain = both(b.op("gt.Scalar", {a, 0.0}), b.op("gt.Scalar", {x, 0.0}));
  plain = both(plain, both(b.op("isfinite", {x}), b.op("logical_not", {large})));
  Value* above = b.op("ge.Tensor", {x, b.add(a, 1.0)});
  Value* by_series = both(plain, b.op("logical_not", {above}));
  Value* by_fraction = both(plain, above);
  Value* power = b.sub(b.sub(b.mul(a, b.op("log", {x})), x), log_gamma(b, a));
  Value* factor = b.op("exp", {power});
  Value* low =
      b.mul(factor, lower_series(b, b.where(by_series, a, 1.0), b.where(by_series, x, 0.5)));
  Value* high =
      b.mul(factor, upper_fraction(b, b.where(by_fraction, a, 1.0), b.where(by_fraction, x, 3.0)));
  const auto complement = [&](Value* y) { return b.op("rsub.Scalar", {y, 1.0}); };
  Value* y = upper ? b.where(above, high, complement(low)) : b.where(above, complement(high), low);
  Value* of_large = upper_of_large(b, a, x);
  y = b.where(large, upper ? of_large : complement(of_large), y);
  const double full = upper ? 0 : 1, none = upper ? 1 : 0;
  y = b.where(is(x, 0), none, y);
  y = b.where(is(a, 0), full, y);
  y = b.where(is(x, kInfinity), full, y);
  y = b.where(is(a, kInfinity), none, y);
  Value* zeros = both(is(a, 0), is(x, 0));
  Value* infinities = both(is(a, kInfinity), is(x, kInfinity));
  Value* below = b.op("logical_or", {b.op("lt.Scalar", {a, 0.0}), b.op("lt.Scalar", {x, 0.0})});
  Value* nans = b.op("logical_or", {b.op("isnan", {a}), b.op("isnan", {x})});
  for (Value* bad : {zeros, infinities, below, nans}) y = b.where(bad, kNan, y);
  b.result(y);
}
void igamma(Builder& b) { incomplete_gamma(b, false); }
void igammac(Builder& b) { incomplete_gamma(b, true); }

}  // namespace

const Decompositions& gamma_rules() {
  static const Decompositions table = {
      {"lgamma", lgamma},
      {"special_gammaln", lgamma},
      {"mvlgamma", multigammaln},
      {"special_multigammaln", multigammaln},
      {"digamma", digamma},
      {"special_digamma", digamma},
      {"special_psi", digamma},
      {"polygamma", polygamma},
      {"special_polygamma", polygamma},
      {"special_zeta", zeta},
      {"special_zeta.other_scalar", zeta},
      {"special_zeta.self_scalar", zeta},
      {"igamma", igamma},
      {"special_gammainc", igamma},
      {"igammac", igammac},
      {"special_gammaincc", igammac},
  };
  return table;
}

}  // namespace taper::exir
