// The structure of numbers: common divisors, mantissa and exponent, the next representable number.

#include <cmath>
#include <limits>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- divisors ----

Value* positive_operand(Builder& b, const char* name) {
  Value* x = b.op("abs", {b.cast(b.in(name), ScalarType::kLong)});
  return b.expand(x, b.out_type().sizes);
}

// Euclid's algorithm: (x, y) becomes (y, x mod y) until y is 0 everywhere.
Value* divisor(Builder& b, Value* x, Value* y) {
  return b.loop(
      {x, y}, {},
      [](Builder& body, const Builder::Values& in) -> Builder::Values {
        return {body.op("any", {body.op("ne.Scalar", {in[1], 0})})};
      },
      [](Builder& body, const Builder::Values& in) -> Builder::Values {
        Value* done = body.op("eq.Scalar", {in[1], 0});
        Value* by = body.where(done, 1, in[1]);
        Value* left = body.op("remainder.Tensor", {in[0], by});
        return {body.where(done, in[0], in[1]), body.where(done, 0, left)};
      })[0];
}
void gcd(Builder& b) {
  b.result(divisor(b, positive_operand(b, "self"), positive_operand(b, "other")));
}
void lcm(Builder& b) {
  Value* x = positive_operand(b, "self");
  Value* y = positive_operand(b, "other");
  Value* by = divisor(b, x, y);
  by = b.where(b.op("eq.Scalar", {by, 0}), 1, by);
  b.result(b.mul(b.op("div.Tensor_mode", {x, by, "trunc"}), y));
}

// ---- mantissa and exponent ----

struct Parts {
  Value* mantissa;  // 0.5 <= |m| < 1
  Value* exponent;  // In float64.
};

// Splits float64 numbers; 0, infinities and NaN are their own mantissa, with an exponent of 0.
Parts take_apart(Builder& b, Value* x) {
  constexpr double kShift = 128;
  Value* size = b.op("abs", {x});
  Value* tiny = b.op("lt.Scalar", {size, 0x1p-900});
  Value* scaled = b.where(tiny, b.mul(x, 0x1p128), x);
  Value* guess = b.add(b.op("floor", {b.op("log2", {b.op("abs", {scaled})})}), 1.0);
  // Scaled in two steps, since 2^-guess may not be a normal number.
  Value* half = b.op("floor", {b.mul(guess, -0.5)});
  Value* rest = b.op("neg", {b.add(guess, half)});
  Value* m = b.mul(b.mul(scaled, b.op("exp2", {half})), b.op("exp2", {rest}));
  Value* large = b.op("ge.Scalar", {b.op("abs", {m}), 1.0});
  Value* small = b.op("lt.Scalar", {b.op("abs", {m}), 0.5});
  m = b.where(large, b.mul(m, 0.5), b.where(small, b.mul(m, 2.0), m));
  Value* exponent = b.where(large, b.add(guess, 1.0), b.where(small, b.sub(guess, 1.0), guess));
  exponent = b.where(tiny, b.sub(exponent, kShift), exponent);
  Value* plain = b.op("logical_and", {b.op("isfinite", {x}), b.op("ne.Scalar", {x, 0.0})});
  return {b.where(plain, m, x), b.where(plain, exponent, 0.0)};
}
void frexp(Builder& b) {
  const Parts parts = take_apart(b, b.cast(b.in("self"), ScalarType::kDouble));
  b.result(parts.mantissa, 0);
  b.result(b.cast(parts.exponent, ScalarType::kInt), 1);
}

struct Format {
  int digits;       // Bits of the mantissa.
  double smallest;  // The smallest positive number.
  double largest;
};
Format format_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kHalf:
      return {11, 0x1p-24, 65504};
    case ScalarType::kBFloat16:
      return {8, 0x1p-133, 0x1.fep127};
    case ScalarType::kFloat:
      return {24, 0x1p-149, 0x1.fffffep127};
    default:
      return {53, 0x1p-1074, std::numeric_limits<double>::max()};
  }
}

// x moved by one unit in the last place towards `other`, computed in float64.
void nextafter(Builder& b) {
  const Format format = format_of(b.out_type().dtype);
  const auto operand = [&](const char* name) {
    return b.expand(b.cast(b.in(name), ScalarType::kDouble), b.out_type().sizes);
  };
  Value* x = operand("self");
  Value* to = operand("other");
  const Parts parts = take_apart(b, x);
  Value* up = b.op("gt.Tensor", {to, x});
  Value* outwards = b.op("eq.Tensor", {up, b.op("gt.Scalar", {x, 0.0})});
  Value* edge = b.op("eq.Scalar", {b.op("abs", {parts.mantissa}), 0.5});
  Value* places = b.sub(parts.exponent, 1.0 * format.digits);
  Value* finer = b.op("logical_and", {edge, b.op("logical_not", {outwards})});
  places = b.where(finer, b.sub(places, 1.0), places);
  const double least = std::log2(format.smallest);
  Value* step = b.op("exp2", {b.op("clamp", {places, least, Argument()})});
  step = b.where(b.op("eq.Scalar", {x, 0.0}), format.smallest, step);
  Value* y = b.add(x, b.where(up, step, b.op("neg", {step})));
  y = b.where(b.op("eq.Scalar", {x, kInfinity}), format.largest, y);
  y = b.where(b.op("eq.Scalar", {x, -kInfinity}), -format.largest, y);
  y = b.where(b.op("eq.Tensor", {x, to}), to, y);
  for (Value* v : {x, to}) y = b.where(b.op("isnan", {v}), v, y);
  b.result(y);
}

}  // namespace

const Decompositions& number_rules() {
  static const Decompositions table = {
      {"gcd", gcd},
      {"lcm", lcm},
      {"frexp.Tensor", frexp},
      {"nextafter", nextafter},
  };
  return table;
}

}  // namespace taper::exir
