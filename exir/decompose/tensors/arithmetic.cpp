// Element-wise arithmetic that simpler operators express.

#include <cmath>
#include <limits>
#include <numbers>

#include "exir/decompose/rules.h"
#include "exir/ops/promote.h"

namespace taper::exir {
namespace {

Value* self(Builder& b) { return b.in("self"); }
Value* other(Builder& b) { return b.in("other"); }

bool is_one(const Argument& arg) { return !arg.is_value() && arg.to_double() == 1.0; }
Value* scaled(Builder& b, const Argument& x, const Argument& factor) {
  return is_one(factor) ? x.value() : b.mul(x, factor);
}
Value* where(Builder& b, Value* condition, Argument yes, Argument no) {
  return b.op("where.self", {condition, std::move(yes), std::move(no)});
}

void rsub_tensor(Builder& b) { b.result(b.sub(other(b), scaled(b, self(b), b.arg("alpha")))); }
void square(Builder& b) { b.result(b.mul(self(b), self(b))); }
void exp2(Builder& b) {
  Value* x = self(b);
  if (!is_floating(x->type.dtype)) x = b.cast(x, b.out_type().dtype);
  b.result(b.op("pow.Scalar", {2.0, x}));
}
void frac(Builder& b) { b.result(b.sub(self(b), b.op("trunc", {self(b)}))); }
void deg2rad(Builder& b) { b.result(b.mul(self(b), std::numbers::pi / 180)); }
void rad2deg(Builder& b) { b.result(b.mul(self(b), 180 / std::numbers::pi)); }
// True for -0.0 too, because 1 / -0.0 is negative.
Value* is_negative(Builder& b, Value* x) {
  if (x->type.dtype == ScalarType::kBool) return b.op("ne.Tensor", {x, x});
  Value* below = b.op("lt.Scalar", {x, 0});
  if (!is_floating(x->type.dtype)) return below;
  Value* zero = b.op("eq.Scalar", {x, 0});
  return b.where(zero, b.op("lt.Scalar", {b.op("reciprocal", {x}), 0}), below);
}
void signbit(Builder& b) { b.result(is_negative(b, self(b))); }
// The angle of a real number: pi if it is negative, else 0.
void angle(Builder& b) {
  Value* x = self(b);
  const ScalarType dtype = b.out_type().dtype;
  Value* phase = b.where(b.op("lt.Scalar", {x, 0}), b.constant(std::numbers::pi, dtype), 0.0);
  b.result(is_floating(x->type.dtype) ? b.where(b.op("isnan", {x}), x, phase) : phase);
}
void positive(Builder& b) { b.result(self(b)); }

void addcmul(Builder& b) {
  Value* product = b.mul(b.in("tensor1"), b.in("tensor2"));
  Argument value = b.arg("value");  // Truncated first if the result has integers.
  const bool whole = value.is<double>() && !is_floating(b.out_type().dtype);
  if (whole) value = static_cast<int64_t>(value.to_double());
  b.result(b.add(self(b), scaled(b, product, value)));
}
void addcdiv(Builder& b) {
  Value* quotient = b.div(b.in("tensor1"), b.in("tensor2"));
  b.result(b.add(self(b), scaled(b, quotient, b.arg("value"))));
}
// Interpolates from the nearer end, as PyTorch does.
void lerp(Builder& b) {
  Value* end = b.in("end");
  Value* gap = b.sub(end, self(b));
  const Argument& weight = b.arg("weight");
  const auto from_start = [&] { return b.add(self(b), b.mul(gap, weight)); };
  const auto from_end = [&](const Argument& rest) { return b.sub(end, b.mul(gap, rest)); };
  if (!weight.is_value()) {
    const double w = weight.to_double();
    return b.result(std::abs(w) < 0.5 ? from_start() : from_end(1 - w));
  }
  Value* near = b.op("lt.Scalar", {b.op("abs", {weight}), 0.5});
  b.result(b.where(near, from_start(), from_end(b.op("rsub.Scalar", {weight, 1}))));
}
// The larger size times sqrt(1 + (smaller / larger)^2), which neither overflows nor becomes 0 where
// squares do. Equal sizes may be 0 or infinite; an infinite side counts even beside NaN.
void hypot(Builder& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Value* x = b.op("abs", {self(b)});
  Value* y = b.op("abs", {other(b)});
  Value* large = b.op("maximum", {x, y});
  Value* small = b.op("minimum", {x, y});
  Value* ratio = b.div(small, large);
  Value* root = b.op("sqrt", {b.add(b.mul(ratio, ratio), 1.0)});
  Value* diagonal = b.mul(large, std::numbers::sqrt2);
  Value* length = b.where(b.op("eq.Tensor", {small, large}), diagonal, b.mul(large, root));
  Value* endless =
      b.op("logical_or", {b.op("eq.Scalar", {x, kInfinity}), b.op("eq.Scalar", {y, kInfinity})});
  b.result(b.where(endless, kInfinity, length));
}

// log(exp(a) + exp(b)) without overflow: max(a, b) + log1p(exp(-|a - b|)).
void logaddexp(Builder& b) {
  Value* top = b.op("maximum", {self(b), other(b)});
  Value* gap = b.op("neg", {b.op("abs", {b.sub(self(b), other(b))})});
  Value* sum = b.add(top, b.op("log1p", {b.op("exp", {gap})}));
  Value* same = b.op("eq.Tensor", {self(b), other(b)});  // For equal infinities the gap is NaN.
  Value* doubled = b.add(self(b), std::log(2.0));
  b.result(where(b, same, doubled, sum));
}

void xlogy(Builder& b) {
  Value* x = self(b);
  Value* product = b.mul(x, b.op("log", {other(b)}));
  Value* zero = b.op("logical_and",
                     {b.op("eq.Scalar", {x, 0}), b.op("logical_not", {b.op("isnan", {other(b)})})});
  b.result(where(b, zero, b.constant(0, b.out_type().dtype), product));
}
void sinc(Builder& b) {
  Value* x = b.mul(self(b), std::numbers::pi);
  Value* ratio = b.div(b.op("sin", {x}), x);
  b.result(where(b, b.op("eq.Scalar", {self(b), 0}), b.constant(1, ratio->type.dtype), ratio));
}

void isfinite(Builder& b) {
  Value* x = self(b);
  if (!is_floating(x->type.dtype)) return b.result(b.op("eq.Tensor", {x, x}));
  Value* bad = b.op("logical_or", {b.op("isnan", {x}), b.op("isinf", {x})});
  b.result(b.op("logical_not", {bad}));
}
void isinf_signed(Builder& b, double sign) {
  b.result(b.op("eq.Scalar", {self(b), sign * std::numeric_limits<double>::infinity()}));
}
void isposinf(Builder& b) { isinf_signed(b, 1); }
void isneginf(Builder& b) { isinf_signed(b, -1); }

double largest(ScalarType type) {
  switch (type) {
    case ScalarType::kHalf:
      return 65504.0;
    case ScalarType::kBFloat16:
      return 3.3895313892515355e38;
    case ScalarType::kFloat:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}
void nan_to_num(Builder& b) {
  Value* x = self(b);
  const ScalarType dtype = x->type.dtype;
  if (!is_floating(dtype)) return b.result(x);
  const auto pick = [&](std::string_view name, double otherwise) {
    return b.constant(b.has(name) ? b.arg(name).to_double() : otherwise, dtype);
  };
  const double inf = std::numeric_limits<double>::infinity();
  Value* y = where(b, b.op("isnan", {x}), pick("nan", 0), x);
  y = where(b, b.op("eq.Scalar", {y, inf}), pick("posinf", largest(dtype)), y);
  b.result(where(b, b.op("eq.Scalar", {y, -inf}), pick("neginf", -largest(dtype)), y));
}

// Where one operand is NaN, the result is the other one.
Value* ignoring_nan(Builder& b, std::string_view op) {
  Value* best = b.op(op, {self(b), other(b)});
  Value* y = where(b, b.op("isnan", {other(b)}), self(b), best);
  return where(b, b.op("isnan", {self(b)}), other(b), y);
}
void fmax(Builder& b) { b.result(ignoring_nan(b, "maximum")); }
void fmin(Builder& b) { b.result(ignoring_nan(b, "minimum")); }

void sgn(Builder& b) { b.result(b.op("sign", {self(b)})); }
void heaviside(Builder& b) {
  Value* x = self(b);
  Value* step = b.cast(b.op("gt.Scalar", {x, 0}), x->type.dtype);
  b.result(where(b, b.op("eq.Scalar", {x, 0}), b.in("values"), step));
}
void copysign(Builder& b) {
  Value* x = b.cast(self(b), b.out_type().dtype);
  Value* size = b.op("abs", {x});
  Value* negative_size = b.op("neg", {size});
  const Argument& sign = b.arg("other");
  if (sign.is_value()) {
    return b.result(b.where(is_negative(b, sign.value()), negative_size, size));
  }
  b.result(std::signbit(sign.to_double()) ? negative_size : size);
}

void clamp_below(Builder& b) { b.result(b.op("clamp", {self(b), b.arg("min"), Argument()})); }
void clamp_above(Builder& b) { b.result(b.op("clamp", {self(b), Argument(), b.arg("max")})); }
void clamp_min_tensor(Builder& b) { b.result(b.op("maximum", {self(b), b.in("min")})); }
void clamp_max_tensor(Builder& b) { b.result(b.op("minimum", {self(b), b.in("max")})); }

void floor_divide(Builder& b) {
  const Argument other = b.arg("other");
  const bool tensor = other.is_value() && other.value()->kind == ValueKind::kTensor;
  b.result(b.op(tensor ? "div.Tensor_mode" : "div.Scalar_mode", {self(b), other, "floor"}));
}

// A number that is shifted by a tensor takes the tensor's dtype.
void shift_number(Builder& b) {
  const bool left = b.node().is("aten::bitwise_left_shift.Scalar_Tensor");
  Value* number = b.full({}, b.arg("self"), b.out_type().dtype);
  b.result(
      b.op(left ? "bitwise_left_shift.Tensor" : "bitwise_right_shift.Tensor", {number, other(b)}));
}

// An operand of where(); a literal becomes a 0-d constant of the result's dtype.
Value* operand(Builder& b, std::string_view name) {
  const Argument& arg = b.arg(name);
  if (arg.is_value() && arg.value()->kind == ValueKind::kTensor) return arg.value();
  if (arg.is_value()) return b.op("scalar_tensor", {arg, b.out_type().dtype});
  return b.constant(arg.to_double(), b.out_type().dtype);
}
void where_scalar(Builder& b) {
  Value* yes = operand(b, "self");
  Value* no = operand(b, "other");
  b.result(where(b, b.in("condition"), yes, no));
}

void masked_fill(Builder& b) {
  const Argument& value = b.arg("value");
  const ScalarType dtype = self(b)->type.dtype;
  Value* fill = value.is_value() && value.value()->kind == ValueKind::kTensor
                    ? b.cast(value.value(), dtype)
                : value.is_value() ? b.op("scalar_tensor", {value, dtype})
                                   : b.constant(value.to_double(), dtype);
  b.result(where(b, b.in("mask"), fill, self(b)));
}

}  // namespace

const Decompositions& arithmetic_rules() {
  static const Decompositions table = {
      {"rsub.Tensor", rsub_tensor, kWide},
      {"square", square, kWide},
      {"exp2", exp2, kWide},
      {"frac", frac, kWide},
      {"deg2rad", deg2rad, kWide},
      {"rad2deg", rad2deg, kWide},
      {"signbit", signbit},
      {"angle", angle},
      {"positive", positive},
      {"addcmul", addcmul, kWide},
      {"addcdiv", addcdiv, kWide},
      {"lerp.Scalar", lerp, kWide},
      {"lerp.Tensor", lerp, kWide},
      {"hypot", hypot, kWide},
      {"logaddexp", logaddexp, kWide},
      {"xlogy.Tensor", xlogy, kWide},
      {"sinc", sinc, kWide},
      {"isfinite", isfinite},
      {"isposinf", isposinf},
      {"isneginf", isneginf},
      {"nan_to_num", nan_to_num},
      {"fmax", fmax},
      {"fmin", fmin},
      {"sgn", sgn},
      {"heaviside", heaviside},
      {"copysign.Tensor", copysign},
      {"copysign.Scalar", copysign},
      {"clamp_min", clamp_below},
      {"clamp_max", clamp_above},
      {"clamp_min.Tensor", clamp_min_tensor},
      {"clamp_max.Tensor", clamp_max_tensor},
      {"floor_divide", floor_divide},
      {"floor_divide.Scalar", floor_divide},
      {"bitwise_left_shift.Scalar_Tensor", shift_number},
      {"bitwise_right_shift.Scalar_Tensor", shift_number},
      {"where.Scalar", where_scalar},
      {"where.ScalarOther", where_scalar},
      {"where.ScalarSelf", where_scalar},
      {"masked_fill.Scalar", masked_fill},
      {"masked_fill.Tensor", masked_fill},
  };
  return table;
}

}  // namespace taper::exir
