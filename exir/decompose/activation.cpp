// Activations: each in terms of element-wise operators that have kernels.

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
  b.result(b.op("where.self", {b.op("gt.Scalar", {x, b.arg("threshold")}), x, other}));
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

// In inference the slope is the middle of the range.
void rrelu(Builder& b) {
  const double slope = (b.arg("lower").to_double() + b.arg("upper").to_double()) / 2;
  b.result(b.op("leaky_relu", {self(b), slope}));
}

}  // namespace

const Decompositions& activation_rules() {
  static const Decompositions table = {
      {"silu", silu},
      {"hardswish", hardswish},
      {"hardsigmoid", hardsigmoid},
      {"relu6", relu6},
      {"softplus", softplus},
      {"mish", mish},
      {"log_sigmoid", log_sigmoid},
      {"softsign", softsign},
      {"tanhshrink", tanhshrink},
      {"celu", celu},
      {"selu", selu},
      {"prelu", prelu},
      {"_prelu_kernel", prelu},
      {"threshold", threshold},
      {"hardshrink", hardshrink},
      {"softshrink", softshrink},
      {"rrelu", rrelu},
  };
  return table;
}

}  // namespace taper::exir
