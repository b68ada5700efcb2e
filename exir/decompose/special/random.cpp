// Random numbers of other distributions, derived from uniform and normal ones, and dropout.

#include <cmath>
#include <limits>
#include <numbers>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

// Draws in float32 at least, so that a 16-bit result is rounded once.
Value* draw(Builder& b, const char* op) {
  return b.op(op, {b.size_list(b.out_type().sizes),
                   is_floating(b.wide_type()) ? b.wide_type() : ScalarType::kFloat});
}
Value* uniform_draw(Builder& b) { return draw(b, "rand"); }
Value* normal_draw(Builder& b) { return draw(b, "randn"); }

void rand(Builder& b) { b.result(uniform_draw(b)); }
void randn(Builder& b) { b.result(normal_draw(b)); }

void uniform(Builder& b) {
  const double from = b.arg("from").to_double(), to = b.arg("to").to_double();
  b.result(b.add(b.mul(uniform_draw(b), to - from), from));
}
void normal(Builder& b) {
  Value* x = normal_draw(b);
  b.result(b.add(b.mul(x, b.arg("std")), b.arg("mean")));
}
void log_normal(Builder& b) {
  Value* x = b.add(b.mul(normal_draw(b), b.arg("std")), b.arg("mean"));
  b.result(b.op("exp", {x}));
}

// An exponentially distributed number: -log(1 - u) for a uniform u in [0, 1).
Value* waiting_time(Builder& b) {
  return b.op("neg", {b.op("log1p", {b.op("neg", {uniform_draw(b)})})});
}
void exponential(Builder& b) { b.result(b.mul(waiting_time(b), 1 / b.arg("lambd").to_double())); }
void geometric(Builder& b) {
  const double rate = -std::log1p(-b.arg("p").to_double());
  Value* trials = b.op("floor", {b.mul(waiting_time(b), 1 / rate)});
  b.result(b.add(trials, 1));
}
void cauchy(Builder& b) {
  Value* angle = b.mul(b.sub(uniform_draw(b), 0.5), std::numbers::pi);
  Value* x = b.mul(b.op("tan", {angle}), b.arg("sigma"));
  b.result(b.add(x, b.arg("median")));
}

void bernoulli(Builder& b) {
  const Argument& p = b.arg(b.knows("p") ? "p" : "self");
  const bool tensor = p.is_value() && p.value()->kind == ValueKind::kTensor;
  Value* u = uniform_draw(b);
  b.result(tensor ? b.op("lt.Tensor", {u, p}) : b.op("lt.Scalar", {u, p}));
}

// Integers in [low, high).
void integers(Builder& b, double low, double high) {
  Value* x = b.op(
      "floor",
      {b.mul(b.op("rand", {b.size_list(b.out_type().sizes), ScalarType::kDouble}), high - low)});
  b.result(b.add(x, low));
}
void randint(Builder& b) {
  const double low = b.knows("low") ? b.arg("low").to_double() : 0;
  integers(b, low, b.arg("high").to_double());
}

// A random permutation: the indices that sort random numbers.
void randperm(Builder& b) { b.result(b.ops("sort.stable", {uniform_draw(b), true, 0, false})[1]); }

// Draws categories by their weights: every category gets an exponential waiting time divided by its
// weight, and the shortest one wins. The n shortest times of one race are n draws without
// replacement; with replacement, each draw is a race of its own.
void multinomial(Builder& b) {
  Value* weights = b.in("self");
  weights = b.cast(weights, weights->type.dtype == ScalarType::kDouble ? ScalarType::kDouble
                                                                       : ScalarType::kFloat);
  const int64_t draws = b.arg("num_samples").to_int();
  const bool again = b.arg("replacement").to_bool();
  if (again) weights = b.unsqueeze(weights, -2);
  std::vector<Sym> sizes = weights->type.sizes;
  if (again) sizes[sizes.size() - 2] = draws;
  Value* u = b.op("rand", {b.size_list(sizes), weights->type.dtype});
  Value* time = b.op("neg", {b.op("log1p", {b.op("neg", {u})})});
  Value* never = b.op("le.Scalar", {weights, 0.0});
  time = b.where(never, std::numeric_limits<double>::infinity(), b.div(time, weights));
  if (again) return b.result(b.op("argmin", {time, -1, false}));
  Value* order = b.ops("sort.stable", {time, true, -1, false})[1];
  b.result(b.slice(order, -1, 0, draws));
}

// In inference the slope is the middle of the range.
void rrelu(Builder& b) {
  Value* x = b.in("self");
  const double low = b.arg("lower").to_double(), high = b.arg("upper").to_double();
  if (!b.arg("training").to_bool()) return b.result(b.op("leaky_relu", {x, (low + high) / 2}));
  Value* slope = b.add(b.mul(uniform_draw(b), high - low), low);
  b.result(b.where(b.op("gt.Scalar", {x, 0}), x, b.mul(x, slope)));
}

void rrelu_with_noise(Builder& b) {
  Value* x = b.in("self");
  if (b.arg("training").to_bool()) {
    const double low = b.arg("lower").to_double(), high = b.arg("upper").to_double();
    Value* drawn = b.op("rand", {b.size_list(x->type.sizes), x->type.dtype});
    drawn = b.add(b.mul(drawn, high - low), low);
    Value* noise = b.where(b.op("gt.Scalar", {x, 0}), 1.0, drawn);
    b.result(b.mul(x, noise), 0);
    return b.result(noise, 1);
  }
  const double slope = (b.arg("lower").to_double() + b.arg("upper").to_double()) / 2;
  b.result(b.op("leaky_relu", {x, slope}), 0);
  b.result(b.in("noise"), 1);
}

// Dropout is the identity in inference.
void without_dropping(Builder& b) {
  if (b.arg("train").to_bool()) {
    throw Failure(std::string(b.node().target()) +
                  " drops values at random: the model is in training mode");
  }
  b.result(b.args()[0].value());
}
void dropout_backward(Builder& b) {
  b.result(b.mul(b.mul(b.in("grad_output"), b.in("mask")), b.arg("scale")));
}

}  // namespace

const Decompositions& random_rules() {
  static const Decompositions table = {
      {"rand_like", rand},
      {"randn_like", randn},
      {"uniform", uniform},
      {"normal_functional", normal},
      {"normal.Tensor_Tensor", normal},
      {"normal.Tensor_float", normal},
      {"normal.float_Tensor", normal},
      {"normal.float_float", normal},
      {"log_normal", log_normal},
      {"exponential", exponential},
      {"geometric", geometric},
      {"cauchy", cauchy},
      {"bernoulli", bernoulli, kWide},
      {"bernoulli.p", bernoulli, kWide},
      {"bernoulli.Tensor", bernoulli, kWide},
      {"randint", randint},
      {"randint.low", randint},
      {"randint_like", randint},
      {"randint_like.low_dtype", randint},
      {"randperm", randperm},
      {"multinomial", multinomial},
      {"feature_alpha_dropout", without_dropping},
      {"native_dropout_backward", dropout_backward, kWide},
      {"rrelu", rrelu, kWide},
      {"rrelu_with_noise_functional", rrelu_with_noise, kWide},
  };
  return table;
}

}  // namespace taper::exir
