// Special functions, comparisons with a tolerance, and rounding to decimals.

#include <cmath>
#include <limits>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_tensor(const Argument& arg) {
  return arg.is_value() && arg.value()->kind == ValueKind::kTensor;
}

// A tensor operand, or a number as a 0-d tensor; integers are converted to the result's dtype.
Value* operand(Builder& b, std::string_view name) {
  const Argument& arg = b.arg(name);
  const ScalarType wide = b.wide_type();
  if (!is_tensor(arg)) return b.constant(arg.to_double(), wide);
  return is_floating(arg.value()->type.dtype) ? arg.value() : b.cast(arg.value(), wide);
}
Value* nan(Builder& b, Value* x) { return b.op("isnan", {x}); }

// x * log(y), where 0 * log(anything but NaN) is 0.
void product_with_log(Builder& b, const char* log) {
  Value* x = operand(b, "self");
  Value* y = operand(b, "other");
  Value* product = b.mul(x, b.op(log, {y}));
  Value* zero = b.where(b.op("eq.Scalar", {x, 0}), 0.0, product);
  b.result(b.where(nan(b, y), y, zero));
}
void xlogy(Builder& b) { product_with_log(b, "log"); }
void xlog1py(Builder& b) { product_with_log(b, "log1p"); }

// -x log(x); 0 at 0 and -inf below.
void entr(Builder& b) {
  Value* x = operand(b, "self");
  Value* inside = b.op("neg", {b.mul(x, b.op("log", {x}))});
  Value* edge = b.where(b.op("eq.Scalar", {x, 0}), b.mul(x, 0), b.add(b.mul(x, 0), -kInfinity));
  edge = b.where(b.op("eq.Scalar", {x, -kInfinity}), -kInfinity, edge);
  b.result(b.where(b.op("gt.Scalar", {x, 0}), inside, edge));
}

// log2(2^a + 2^b) without overflow: max(a, b) + log2(1 + 2^-|a - b|).
void logaddexp2(Builder& b) {
  Value* x = b.in("self");
  Value* y = b.in("other");
  Value* gap = b.op("neg", {b.op("abs", {b.sub(x, y)})});
  Value* tail = b.mul(b.op("log1p", {b.op("exp2", {gap})}), 1 / std::log(2.0));
  Value* sum = b.add(b.op("maximum", {x, y}), tail);
  Value* equal = b.op("eq.Tensor", {x, y});  // For equal infinities the gap is NaN.
  b.result(b.where(equal, b.add(x, 1.0), sum));
}

void float_power(Builder& b) {
  const auto wide = [&](std::string_view name) -> Argument {
    const Argument& arg = b.arg(name);
    if (is_tensor(arg)) return b.cast(arg.value(), ScalarType::kDouble);
    return arg.is_value() ? arg : Argument(arg.to_double());
  };
  const Argument base = wide("self"), exponent = wide("exponent");
  const char* op = !is_tensor(base)      ? "pow.Scalar"
                   : is_tensor(exponent) ? "pow.Tensor_Tensor"
                                         : "pow.Tensor_Scalar";
  b.result(b.op(op, {base, exponent}));
}

void ldexp(Builder& b) {
  Value* power = b.op("exp2", {operand(b, "other")});
  b.result(b.mul(operand(b, "self"), power));
}

// Equal, or closer than atol + rtol * |other| and finite.
void isclose(Builder& b) {
  Value* x = b.in("self");
  Value* y = b.in("other");
  Value* close = b.op("eq.Tensor", {x, y});
  const bool floats = is_floating(x->type.dtype);
  if (floats && b.arg("equal_nan").to_bool()) {
    close = b.op("logical_or", {close, b.op("logical_and", {nan(b, x), nan(b, y)})});
  }
  const double rtol = b.arg("rtol").to_double(), atol = b.arg("atol").to_double();
  if (rtol == 0 && atol == 0) return b.result(close);
  if (!floats) {
    x = b.cast(x, ScalarType::kFloat);
    y = b.cast(y, ScalarType::kFloat);
  }
  Value* allowed = b.add(b.op("abs", {b.mul(y, rtol)}), atol);
  Value* gap = b.op("abs", {b.sub(x, y)});
  Value* near = b.op("logical_and", {b.op("isfinite", {gap}), b.op("le.Tensor", {gap, allowed})});
  b.result(b.op("logical_or", {close, near}));
}

// Whether each element equals one of the others, by comparing all pairs along a new last dimension.
void isin(Builder& b) {
  const Argument elements = b.arg(b.knows("elements") ? "elements" : "element");
  const Argument tests = b.arg(b.knows("test_elements") ? "test_elements" : "test_element");
  Value* found = nullptr;
  if (!is_tensor(tests)) {
    found = b.op("eq.Scalar", {elements, tests});
  } else {
    Value* line = b.view(tests.value(), {tests.value()->type.numel()});
    Value* equal = is_tensor(elements)
                       ? b.op("eq.Tensor", {b.unsqueeze(elements.value(), -1), line})
                       : b.op("eq.Scalar", {line, elements});
    found = b.op("any.dim", {equal, -1, false});
  }
  b.result(b.arg("invert").to_bool() ? b.op("logical_not", {found}) : found);
}

// Rounds to a number of decimal places.
void round_decimals(Builder& b) {
  Value* x = b.in("self");
  const int64_t places = b.arg("decimals").to_int();
  if (!is_floating(x->type.dtype)) return b.result(x);
  if (places == 0) return b.result(b.op("round", {x}));
  const double factor = std::pow(10.0, static_cast<double>(std::abs(places)));
  Value* scaled = places > 0 ? b.mul(x, factor) : b.div(x, factor);
  Value* whole = b.op("round", {scaled});
  b.result(places > 0 ? b.div(whole, factor) : b.mul(whole, factor));
}

void isreal(Builder& b) { b.result(b.full(b.out_type().sizes, 1, ScalarType::kBool)); }

// The cumulative distribution function of the normal distribution.
void ndtr(Builder& b) {
  Value* x = b.mul(operand(b, "self"), -std::sqrt(0.5));
  b.result(b.mul(b.op("erfc", {x}), 0.5));
}

}  // namespace

const Decompositions& special_rules() {
  static const Decompositions table = {
      {"xlogy.Scalar_Self", xlogy, kWide},
      {"xlogy.Scalar_Other", xlogy, kWide},
      {"special_xlogy", xlogy, kWide},
      {"special_xlogy.self_scalar", xlogy, kWide},
      {"special_xlogy.other_scalar", xlogy, kWide},
      {"special_xlog1py", xlog1py, kWide},
      {"special_xlog1py.self_scalar", xlog1py, kWide},
      {"special_xlog1py.other_scalar", xlog1py, kWide},
      {"special_ndtr", ndtr, kWide},
      {"special_entr", entr, kWide},
      {"logaddexp2", logaddexp2, kWide},
      {"float_power.Tensor_Tensor", float_power},
      {"float_power.Tensor_Scalar", float_power},
      {"float_power.Scalar", float_power},
      {"ldexp.Tensor", ldexp, kWide},
      {"isclose", isclose},
      {"isin.Tensor_Tensor", isin},
      {"isin.Tensor_Scalar", isin},
      {"isin.Scalar_Tensor", isin},
      {"round.decimals", round_decimals, kWide},
      {"special_round", round_decimals, kWide},
      {"isreal", isreal},
  };
  return table;
}

}  // namespace taper::exir
