// Activations in terms of element-wise operators that have kernels.

#include <limits>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

Value* self(Builder& b) { return b.in("self"); }

void silu(Builder& b) { b.result(b.mul(self(b), b.op("sigmoid", {self(b)}))); }

// clamp(x + 3, 0, 6)
Value* ramp(Builder& b) { return b.op("clamp", {b.add(self(b), 3), 0, 6}); }
void hardswish(Builder& b) { b.result(b.div(b.mul(self(b), ramp(b)), 6)); }
void hardsigmoid(Builder& b) { b.result(b.div(ramp(b), 6)); }

void relu6(Builder& b) { b.result(b.op("hardtanh", {self(b), 0, 6})); }

// log(1 + exp(beta x)) / beta, and x itself above the threshold, where exp would overflow.
Value* softplus_of(Builder& b, Value* x, const Argument& beta, const Argument& threshold) {
  Value* scaled = b.mul(x, beta);
  Value* soft = b.div(b.op("log1p", {b.op("exp", {scaled})}), beta);
  return b.op("where.self", {b.op("gt.Scalar", {scaled, threshold}), x, soft});
}
void softplus(Builder& b) { b.result(softplus_of(b, self(b), b.arg("beta"), b.arg("threshold"))); }
void mish(Builder& b) { b.result(b.mul(self(b), b.op("tanh", {softplus_of(b, self(b), 1, 20)}))); }

// min(0, x) - log1p(exp(-|x|))
void log_sigmoid(Builder& b) {
  Value* tail = b.op("log1p", {b.op("exp", {b.op("neg", {b.op("abs", {self(b)})})})});
  b.result(b.sub(b.op("clamp", {self(b), Argument(), 0}), tail));
}

void softsign(Builder& b) { b.result(b.div(self(b), b.add(b.op("abs", {self(b)}), 1))); }
void tanhshrink(Builder& b) { b.result(b.sub(self(b), b.op("tanh", {self(b)}))); }

void celu(Builder& b) {
  const double alpha = b.arg("alpha").to_double();
  b.result(b.op("elu", {self(b), alpha, 1.0, 1.0 / alpha}));
}
void selu(Builder& b) {
  b.result(b.op(
      "elu", {self(b), 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0}));
}

// x where x > 0, else weight * x; one weight per channel (dimension 1).
void prelu(Builder& b) {
  Value* x = self(b);
  Value* weight = b.in("weight");
  if (weight->type.rank() == 1 && x->type.rank() != 1) {
    std::vector<Sym> sizes(x->type.rank(), Sym(1));
    if (sizes.size() > 1) sizes[1] = weight->type.sizes[0];
    weight = b.view(weight, sizes);
  }
  b.result(b.op("where.self", {b.op("gt.Scalar", {x, 0}), x, b.mul(x, weight)}));
}

void threshold(Builder& b) {
  Value* x = self(b);
  Value* other = b.constant(b.arg("value").to_double(), x->type.dtype);
  b.result(b.where(b.op("le.Scalar", {x, b.arg("threshold")}), other, x));
}

void hardshrink(Builder& b) {
  Value* x = self(b);
  Value* small = b.op("le.Scalar", {b.op("abs", {x}), b.arg("lambd")});
  b.result(b.op("where.self", {small, b.constant(0, x->type.dtype), x}));
}

void softshrink(Builder& b) {
  Value* x = self(b);
  Value* outside = b.op("gt.Scalar", {b.op("abs", {x}), b.arg("lambd")});
  Value* moved = b.sub(x, b.mul(b.op("sign", {x}), b.arg("lambd")));
  b.result(b.op("where.self", {outside, moved, b.mul(x, 0)}));
}

// Horner's form, highest power first.
Value* polynomial(Builder& b, Value* x, const std::vector<double>& factors) {
  Value* y = b.add(b.mul(x, factors[0]), factors[1]);
  for (size_t i = 2; i < factors.size(); ++i) y = b.add(b.mul(y, x), factors[i]);
  return y;
}

// Giles' approximation in w = -log(1 - x^2), one polynomial for the middle and one for the tails;
// float64 adds two Newton steps on erf. For |x| > 1 the logarithm is NaN; at 1 the result is
// infinite.
void erfinv(Builder& b) {
  Value* x = b.cast(b.in("self"), b.out_type().dtype);
  Value* w = b.op("neg", {b.op("log", {b.mul(b.op("rsub.Scalar", {x, 1}), b.add(x, 1))})});
  Value* middle =
      polynomial(b, b.sub(w, 2.5),
                 {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                  -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  Value* tail = polynomial(b, b.sub(b.op("sqrt", {w}), 3),
                           {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
                            0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  Value* y = b.mul(b.op("where.self", {b.op("lt.Scalar", {w, 5}), middle, tail}), x);
  constexpr double kSlope = 1.1283791670955126;  // 2 / sqrt(pi)
  for (int step = x->type.dtype == ScalarType::kDouble ? 0 : 2; step < 2; ++step) {
    Value* slope = b.mul(b.op("exp", {b.op("neg", {b.mul(y, y)})}), kSlope);
    y = b.sub(y, b.div(b.sub(b.op("erf", {y}), x), slope));
  }
  Value* end = b.op("eq.Scalar", {b.op("abs", {x}), 1});
  Value* infinite = b.mul(x, std::numeric_limits<double>::infinity());
  b.result(b.op("where.self", {end, infinite, y}));
}

}  // namespace

const Decompositions& activation_rules() {
  static const Decompositions table = {
      {"silu", silu, kWide},
      {"hardswish", hardswish, kWide},
      {"hardsigmoid", hardsigmoid, kWide},
      {"relu6", relu6},
      {"softplus", softplus, kWide},
      {"mish", mish, kWide},
      {"log_sigmoid", log_sigmoid, kWide},
      {"softsign", softsign, kWide},
      {"tanhshrink", tanhshrink, kWide},
      {"celu", celu},
      {"selu", selu},
      {"prelu", prelu, kWide},
      {"_prelu_kernel", prelu, kWide},
      {"threshold", threshold},
      {"hardshrink", hardshrink},
      {"softshrink", softshrink, kWide},
      {"erfinv", erfinv},
      {"special_erfinv", erfinv},
  };
  return table;
}

}  // namespace taper::exir
