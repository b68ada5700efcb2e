// Orthogonal polynomials of an order that may be a tensor.
//
//   Chebyshev's have a closed form: T(n, cos t) = cos(n t), and the same with cosh beyond 1
//   the others loop over their three-term recurrence up to the largest order

#include <limits>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An operand in float64 with the sizes of the result.
Value* operand(Builder& b, size_t i) {
  const Argument& arg = b.args().at(i);
  const bool tensor = arg.is_value() && arg.value()->kind == ValueKind::kTensor;
  Value* x = tensor ? b.cast(arg.value(), ScalarType::kDouble)
                    : b.constant(arg.to_double(), ScalarType::kDouble);
  return b.expand(x, b.out_type().sizes);
}
Value* order(Builder& b) { return b.op("trunc", {operand(b, 1)}); }
Value* is(Builder& b, Value* x, double number) { return b.op("eq.Scalar", {x, number}); }
Value* sign_of_odd(Builder& b, Value* n) {  // -1 for odd n.
  return b.op("rsub.Scalar", {b.mul(b.op("remainder.Scalar", {n, 2.0}), 2.0), 1.0});
}

// ---- Chebyshev's ----

enum class Kind { kFirst, kSecond, kThird, kFourth };

// With cos and sin of an angle t, or with cosh and sinh of it:
//   cos(n t), sin((n + 1) t) / sin(t), cos((n + 1/2) t) / cos(t / 2), sin((n + 1/2) t) / sin(t / 2)
Value* closed_form(Builder& b, Kind kind, Value* n, Value* t, bool hyperbolic) {
  const char* cosine = hyperbolic ? "cosh" : "cos";
  const char* sine = hyperbolic ? "sinh" : "sin";
  const auto ratio = [&](const char* f, double shift, double part) {
    Value* top = b.op(f, {b.mul(b.add(n, shift), t)});
    return b.div(top, b.op(f, {b.mul(t, part)}));
  };
  if (kind == Kind::kFirst) return b.op(cosine, {b.mul(n, t)});
  if (kind == Kind::kSecond) return ratio(sine, 1, 1);
  return ratio(kind == Kind::kThird ? cosine : sine, 0.5, 0.5);
}

// The values at x = 1, which are limits of the closed form.
Value* at_one(Builder& b, Kind kind, Value* n) {
  if (kind == Kind::kSecond) return b.add(n, 1.0);
  if (kind == Kind::kFourth) return b.add(b.mul(n, 2.0), 1.0);
  return b.add(b.mul(n, 0.0), 1.0);
}

// The kind whose values at x give those of `kind` at -x, with the opposite sign for odd orders: the
// third and the fourth kind mirror each other.
Kind mirrored(Kind kind) {
  if (kind == Kind::kThird) return Kind::kFourth;
  return kind == Kind::kFourth ? Kind::kThird : kind;
}

Value* beyond_one(Builder& b, Kind kind, Value* n, Value* size) {
  Value* y = closed_form(b, kind, n, b.op("acosh", {size}), true);
  y = b.where(is(b, size, kInfinity), size, y);
  return b.where(is(b, size, 1), at_one(b, kind, n), y);
}

template <Kind kKind, bool kShifted>
void chebyshev(Builder& b) {
  Value* x = operand(b, 0);
  Value* n = order(b);
  if (kShifted) x = b.sub(b.mul(x, 2.0), 1.0);
  Value* size = b.op("abs", {x});
  Value* inside = closed_form(b, kKind, n, b.op("acos", {x}), false);
  Value* right = beyond_one(b, kKind, n, size);
  Value* left = b.mul(beyond_one(b, mirrored(kKind), n, size), sign_of_odd(b, n));
  Value* outside = b.where(b.op("gt.Scalar", {x, 0.0}), right, left);
  Value* y = b.where(b.op("ge.Scalar", {size, 1.0}), outside, inside);
  y = b.where(is(b, n, 0), 1.0, y);
  b.result(b.where(b.op("lt.Scalar", {n, 0.0}), 0.0, y));
}

// ---- by three-term recurrences ----

// P(k + 1) from P(k), P(k - 1), x and k.
using Next = Value* (*)(Builder&, Value* p, Value* before, Value* x, Value* k);

Value* hermite_next(Builder& b, Value* p, Value* before, Value* x, Value* k) {
  return b.mul(b.sub(b.mul(x, p), b.mul(before, k)), 2.0);
}
Value* other_hermite_next(Builder& b, Value* p, Value* before, Value* x, Value* k) {
  return b.sub(b.mul(x, p), b.mul(before, k));
}
Value* laguerre_next(Builder& b, Value* p, Value* before, Value* x, Value* k) {
  Value* factor = b.sub(b.add(b.mul(k, 2.0), 1.0), x);
  return b.div(b.sub(b.mul(factor, p), b.mul(before, k)), b.add(k, 1.0));
}
Value* legendre_next(Builder& b, Value* p, Value* before, Value* x, Value* k) {
  Value* factor = b.mul(x, b.add(b.mul(k, 2.0), 1.0));
  return b.div(b.sub(b.mul(factor, p), b.mul(before, k)), b.add(k, 1.0));
}

// Applies the recurrence up to the largest order; an element stops changing at its own order.
Value* climb(Builder& b, Value* x, Value* n, Value* first, Next next) {
  Value* one = b.add(b.mul(x, 0.0), 1.0);
  Value* start = b.where(b.op("le.Scalar", {n, 0.0}), one, first);
  Value* step = b.constant(1, ScalarType::kDouble);
  return b.loop(
      {start, one, step}, {x, n},
      [](Builder& body, const Builder::Values& in) -> Builder::Values {
        return {body.op("any", {body.op("gt.Tensor", {in[4], in[2]})})};
      },
      [next](Builder& body, const Builder::Values& in) -> Builder::Values {
        Value* open = body.op("gt.Tensor", {in[4], in[2]});
        Value* up = next(body, in[0], in[1], in[3], in[2]);
        return {body.where(open, up, in[0]), body.where(open, in[0], in[1]), body.add(in[2], 1.0)};
      })[0];
}

void finish(Builder& b, Value* y, Value* n) {
  y = b.where(is(b, n, 0), 1.0, y);
  b.result(b.where(b.op("lt.Scalar", {n, 0.0}), 0.0, y));
}

// PyTorch gives NaN for orders whose values may overflow.
template <bool kPhysicists>
void hermite(Builder& b) {
  Value* x = operand(b, 0);
  Value* n = order(b);
  const double most = b.out_type().dtype == ScalarType::kDouble ? 512 : 128;
  Value* first = kPhysicists ? b.mul(x, 2.0) : x;
  Value* y = climb(b, x, b.op("clamp", {n, Argument(), most}), first,
                   kPhysicists ? hermite_next : other_hermite_next);
  y = b.where(b.op("gt.Scalar", {n, most}), std::numeric_limits<double>::quiet_NaN(), y);
  finish(b, y, n);
}
void laguerre(Builder& b) {
  Value* x = operand(b, 0);
  Value* n = order(b);
  finish(b, climb(b, x, n, b.op("rsub.Scalar", {x, 1.0}), laguerre_next), n);
}
void legendre(Builder& b) {
  Value* x = operand(b, 0);
  Value* n = order(b);
  finish(b, climb(b, x, n, x, legendre_next), n);
}

}  // namespace

const Decompositions& polynomial_rules() {
  static const Decompositions table = [] {
    Decompositions out;
    const auto add = [&](const std::string& name, void (*rule)(Builder&)) {
      static std::vector<std::unique_ptr<std::string>> names;  // The table keeps pointers.
      for (const char* form : {"", ".x_scalar", ".n_scalar"}) {
        names.push_back(std::make_unique<std::string>("special_" + name + form));
        out.push_back({names.back()->c_str(), rule});
      }
    };
    add("chebyshev_polynomial_t", chebyshev<Kind::kFirst, false>);
    add("chebyshev_polynomial_u", chebyshev<Kind::kSecond, false>);
    add("chebyshev_polynomial_v", chebyshev<Kind::kThird, false>);
    add("chebyshev_polynomial_w", chebyshev<Kind::kFourth, false>);
    add("shifted_chebyshev_polynomial_t", chebyshev<Kind::kFirst, true>);
    add("shifted_chebyshev_polynomial_u", chebyshev<Kind::kSecond, true>);
    add("shifted_chebyshev_polynomial_v", chebyshev<Kind::kThird, true>);
    add("shifted_chebyshev_polynomial_w", chebyshev<Kind::kFourth, true>);
    add("hermite_polynomial_h", hermite<true>);
    add("hermite_polynomial_he", hermite<false>);
    add("laguerre_polynomial_l", laguerre);
    add("legendre_polynomial_p", legendre);
    return out;
  }();
  return table;
}

}  // namespace taper::exir
