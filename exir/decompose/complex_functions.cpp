// Functions of complex numbers that follow from the exponential, the logarithm, products and
// quotients.

#include <cmath>
#include <iterator>

#include "exir/decompose/complex.h"

namespace taper::exir {
namespace {

Parts operand(Builder& b, size_t i) {
  Parts z = parts_of(b, b.node().args.at(i).value());
  if (z.im == nullptr) z.im = b.full(z.re->type.sizes, 0.0, z.re->type.dtype);
  return z;
}

void give(Builder& b, const Parts& z) {
  const ScalarType dtype = b.out_type().dtype;
  Value* whole = pack(b, b.cast(z.re, dtype), b.cast(z.im, dtype));
  b.result(whole);
  whole->type.pairs = true;
}

Parts plus(Builder& b, const Parts& x, const Parts& y) {
  return {b.add(x.re, y.re), b.add(x.im, y.im)};
}
Parts plus_one(Builder& b, const Parts& z) { return {b.add(z.re, 1.0), z.im}; }
Parts scaled(Builder& b, const Parts& z, double by) { return {b.mul(z.re, by), b.mul(z.im, by)}; }
Parts scaled(Builder& b, const Parts& z, Value* by) { return {b.mul(z.re, by), b.mul(z.im, by)}; }
Parts product(Builder& b, const Parts& x, const Parts& y) {
  return {b.sub(b.mul(x.re, y.re), b.mul(x.im, y.im)), b.add(b.mul(x.re, y.im), b.mul(x.im, y.re))};
}
Parts inverse(Builder& b, const Parts& z) {
  Value* size = b.add(b.mul(z.re, z.re), b.mul(z.im, z.im));
  return {b.div(z.re, size), b.div(b.op("neg", {z.im}), size)};
}
Parts exponential(Builder& b, const Parts& z) {
  Value* size = b.op("exp", {z.re});
  return {b.mul(size, b.op("cos", {z.im})), b.mul(size, b.op("sin", {z.im}))};
}
Value* size_of(Builder& b, const Parts& z) { return b.op("hypot", {z.re, z.im}); }
Parts logarithm(Builder& b, const Parts& z) {
  return {b.op("log", {size_of(b, z)}), b.op("atan2", {z.im, z.re})};
}

// 1 / (1 + exp(-z)). Where exp(-z) is large, its inverse is the result.
Parts sigmoid_of(Builder& b, const Parts& z) {
  constexpr double kLarge = 80;
  const Parts minus = {b.op("neg", {z.re}), b.op("neg", {z.im})};
  const Parts bounded = {b.op("clamp", {minus.re, Argument(), kLarge}), minus.im};
  const Parts y = inverse(b, plus_one(b, exponential(b, bounded)));
  const Parts far = exponential(b, z);
  Value* beyond = b.op("gt.Scalar", {minus.re, kLarge / 2});
  return {b.op("where.self", {beyond, far.re, y.re}), b.op("where.self", {beyond, far.im, y.im})};
}
void sigmoid(Builder& b) { give(b, sigmoid_of(b, operand(b, 0))); }
void silu(Builder& b) {
  const Parts z = operand(b, 0);
  give(b, product(b, z, sigmoid_of(b, z)));
}

void log2(Builder& b) { give(b, scaled(b, logarithm(b, operand(b, 0)), 1 / std::log(2.0))); }
void log10(Builder& b) { give(b, scaled(b, logarithm(b, operand(b, 0)), 1 / std::log(10.0))); }
// log |1 + z| is half the log1p of re (2 + re) + im^2, which keeps small numbers.
void log1p(Builder& b) {
  const Parts z = operand(b, 0);
  Value* more = b.add(b.mul(z.re, b.add(z.re, 2.0)), b.mul(z.im, z.im));
  Value* angle = b.op("atan2", {z.im, b.add(z.re, 1.0)});
  give(b, {b.mul(b.op("log1p", {more}), 0.5), angle});
}
void exp2(Builder& b) { give(b, exponential(b, scaled(b, operand(b, 0), std::log(2.0)))); }
// expm1(re) cos(im) - 2 sin(im / 2)^2 + i exp(re) sin(im)
void expm1(Builder& b) {
  const Parts z = operand(b, 0);
  Value* half = b.op("sin", {b.mul(z.im, 0.5)});
  Value* re =
      b.sub(b.mul(b.op("expm1", {z.re}), b.op("cos", {z.im})), b.mul(b.mul(half, half), 2.0));
  give(b, {re, b.mul(b.op("exp", {z.re}), b.op("sin", {z.im}))});
}

// z^(-1/2) = |z|^(-1/2) at half the angle, backwards.
void reciprocal_root(Builder& b) {
  const Parts z = operand(b, 0);
  Value* size = b.op("rsqrt", {size_of(b, z)});
  Value* angle = b.mul(b.op("atan2", {z.im, z.re}), -0.5);
  give(b, {b.mul(size, b.op("cos", {angle})), b.mul(size, b.op("sin", {angle}))});
}

// tan(z) = (sin 2re + i sinh 2im) / (cos 2re + cosh 2im); beyond 20 it is i or -i.
void tangent(Builder& b) {
  const Parts z = operand(b, 0);
  Value* x = b.mul(z.re, 2.0);
  Value* y = b.mul(b.op("clamp", {z.im, -20.0, 20.0}), 2.0);
  Value* by = b.add(b.op("cos", {x}), b.op("cosh", {y}));
  give(b, {b.div(b.op("sin", {x}), by), b.div(b.op("sinh", {y}), by)});
}

// x^y = exp(y log x), which is 1 where y is 0, and 0 where only x is.
void power(Builder& b) {
  const Parts x = operand(b, 0), y = operand(b, 1);
  const Parts z = exponential(b, product(b, y, logarithm(b, x)));
  const auto is_zero = [&](const Parts& p) {
    return b.op("logical_and", {b.op("eq.Scalar", {p.re, 0.0}), b.op("eq.Scalar", {p.im, 0.0})});
  };
  Value* nothing = is_zero(x);
  Value* one = is_zero(y);
  give(b, {b.where(one, 1.0, b.where(nothing, 0.0, z.re)),
           b.where(one, 0.0, b.where(nothing, 0.0, z.im))});
}

// self + value * x * y, or x / y.
void add_scaled(Builder& b, bool divide) {
  const Parts y = operand(b, 2);
  const Parts z = product(b, operand(b, 1), divide ? inverse(b, y) : y);
  give(b, plus(b, operand(b, 0), scaled(b, z, b.arg("value").to_double())));
}
void add_product(Builder& b) { add_scaled(b, false); }
void add_quotient(Builder& b) { add_scaled(b, true); }

// start + weight (end - start), with a real or a complex weight.
void interpolate(Builder& b) {
  const Parts start = operand(b, 0), end = operand(b, 1);
  const Parts way = {b.sub(end.re, start.re), b.sub(end.im, start.im)};
  const Argument& weight = b.arg("weight");
  if (!weight.is_value()) return give(b, plus(b, start, scaled(b, way, weight.to_double())));
  const Parts by = parts_of(b, weight.value());
  give(b, plus(b, start, by.im == nullptr ? scaled(b, way, by.re) : product(b, way, by)));
}

void is_real(Builder& b) { b.result(b.op("eq.Scalar", {operand(b, 0).im, 0.0})); }

constexpr Decomposition kRules[] = {
    {"sigmoid", sigmoid},
    {"silu", silu},
    {"log2", log2},
    {"log10", log10},
    {"log1p", log1p},
    {"exp2", exp2},
    {"expm1", expm1},
    {"rsqrt", reciprocal_root},
    {"tan", tangent},
    {"pow.Tensor_Tensor", power},
    {"addcmul", add_product},
    {"addcdiv", add_quotient},
    {"lerp.Scalar", interpolate},
    {"lerp.Tensor", interpolate},
    {"isreal", is_real},
};

}  // namespace

const Decompositions& complex_function_rules() {
  static const Decompositions table(std::begin(kRules), std::end(kRules));
  return table;
}

}  // namespace taper::exir
