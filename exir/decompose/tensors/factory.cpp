// Factories of tensors: all become full or arange.start_step, which are folded if sizes are static,
// or a constant.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

constexpr int64_t kMostEntries = int64_t{1} << 24;

// A filled tensor of the result's own dtype and sizes.
void filled(Builder& b, double value) {
  const TensorType& type = b.out_type();
  b.result(b.full(type.sizes,
                  is_floating(type.dtype) ? Argument(value) : Argument(static_cast<int64_t>(value)),
                  type.dtype));
}
void zeros(Builder& b) { filled(b, 0); }
void ones(Builder& b) { filled(b, 1); }
void full(Builder& b) {
  b.result(b.full(b.out_type().sizes, b.arg("fill_value"), b.out_type().dtype));
}

void arange(Builder& b) {
  const Schema& schema = *b.node().schema;
  const Argument start = schema.find("start") >= 0 ? b.arg("start") : Argument(0);
  b.result(b.op("arange.start_step", {start, b.arg("end"), 1, b.out_type().dtype}));
}

// start + i * (end - start) / (steps - 1), computed from the nearer end as PyTorch does.
void linspace(Builder& b) {
  const int64_t steps = b.arg("steps").to_int();
  const double start = b.arg("start").to_double();
  const double end = b.arg("end").to_double();
  const ScalarType dtype = b.out_type().dtype;
  if (steps <= 1) return b.result(b.full({Sym(steps)}, start, dtype));
  const double step = (end - start) / static_cast<double>(steps - 1);
  const int64_t half = steps / 2;
  Value* head = b.add(b.mul(b.arange(0, half, ScalarType::kFloat), step), start);
  Value* back = b.op("rsub.Scalar", {b.arange(half, steps, ScalarType::kFloat), steps - 1});
  Value* tail = b.op("rsub.Scalar", {b.mul(back, step), end});
  b.result(b.cat({head, tail}, 0));
}

// The same in float64, with bounds that may be tensors.
Value* line_between(Builder& b) {
  const auto number = [&](std::string_view name) {
    const Argument& arg = b.arg(name);
    return arg.is_value() ? b.cast(arg.value(), ScalarType::kDouble)
                          : b.constant(arg.to_double(), ScalarType::kDouble);
  };
  const int64_t steps = b.arg("steps").to_int();
  Value* start = number("start");
  Value* end = number("end");
  if (steps <= 1) return b.expand(b.view(start, {Sym(1)}), {Sym(steps)});
  Value* step = b.div(b.sub(end, start), static_cast<double>(steps - 1));
  Value* head = b.add(b.mul(b.arange(0, steps / 2, ScalarType::kDouble), step), start);
  Value* back = b.op("rsub.Scalar", {b.arange(steps / 2, steps, ScalarType::kDouble), steps - 1});
  return b.cat({head, b.sub(end, b.mul(back, step))}, 0);
}
void linspace_of_tensors(Builder& b) { b.result(line_between(b)); }
void logspace(Builder& b) {
  b.result(b.op("pow.Scalar", {b.arg("base").to_double(), line_between(b)}));
}

void eye(Builder& b) {
  const TensorType& type = b.out_type();
  b.result(b.eye(type.sizes[0], type.sizes[1], type.dtype));
}

// ---- window functions ----

// The window `shape`, a function over [0, 1]. A periodic window is a symmetric one that is longer
// by one element, without the last.
void window(Builder& b, const std::function<double(double)>& shape) {
  const int64_t length = b.arg("window_length").to_int();
  const bool periodic = !b.knows("periodic") || b.arg("periodic").to_bool();
  if (length > kMostEntries) throw Failure("a window of " + std::to_string(length) + " elements");
  const double steps = static_cast<double>(periodic ? length : length - 1);
  std::vector<double> line;
  for (int64_t i = 0; i < length; ++i) {
    line.push_back(length == 1 ? 1 : shape(static_cast<double>(i) / steps));
  }
  b.result(b.numbers(line));
}
double cosine(double turns) { return std::cos(2 * std::numbers::pi * turns); }
void hann_window(Builder& b) {
  window(b, [](double t) { return 0.5 - 0.5 * cosine(t); });
}
void hamming_window(Builder& b) {
  const double alpha = b.knows("alpha") ? b.arg("alpha").to_double() : 0.54;
  const double beta = b.knows("beta") ? b.arg("beta").to_double() : 0.46;
  window(b, [&](double t) { return alpha - beta * cosine(t); });
}
void blackman_window(Builder& b) {
  window(b, [](double t) { return 0.42 - 0.5 * cosine(t) + 0.08 * cosine(2 * t); });
}
// The modified Bessel function I0, by its series.
double bessel_i0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= x * x / (4.0 * k * k);
    sum += term;
  }
  return sum;
}
void kaiser_window(Builder& b) {
  const double beta = b.knows("beta") ? b.arg("beta").to_double() : 12;
  if (!(std::abs(beta) < 600)) throw Failure("a Kaiser window with a beta of 600 or more");
  window(b, [&](double t) {
    const double x = 2 * t - 1;
    return bessel_i0(beta * std::sqrt(std::max(1 - x * x, 0.0))) / bessel_i0(beta);
  });
}
void bartlett_window(Builder& b) {
  window(b, [](double t) { return 1 - std::abs(2 * t - 1); });
}

// The frequencies of a Fourier transform of n samples at a distance of d: the non-negative ones,
// then (if `all`) the negative ones, ascending.
void frequencies(Builder& b, bool all) {
  const int64_t n = b.arg("n").to_int();
  if (n < 1 || n > kMostEntries) throw Failure("frequencies of " + std::to_string(n) + " samples");
  std::vector<double> line;
  for (int64_t i = 0; i < (all ? n : n / 2 + 1); ++i) {
    const int64_t k = all && i > (n - 1) / 2 ? i - n : i;
    line.push_back(static_cast<double>(k) / (static_cast<double>(n) * b.arg("d").to_double()));
  }
  b.result(b.numbers(line));
}
void fftfreq(Builder& b) { frequencies(b, true); }
void rfftfreq(Builder& b) { frequencies(b, false); }

}  // namespace

const Decompositions& factory_rules() {
  static const Decompositions table = {
      {"zeros", zeros},
      {"ones", ones},
      {"zeros_like", zeros},
      {"zero", zeros},
      {"ones_like", ones},
      {"new_zeros", zeros},
      {"new_ones", ones},
      {"empty.memory_format", zeros},
      {"empty_like", zeros},
      {"new_empty", zeros},
      {"empty_strided", zeros},
      {"new_empty_strided", zeros},
      {"empty_permuted", zeros},
      {"new_full", full},
      {"full_like", full},
      {"arange", arange},
      {"arange.start", arange},
      {"linspace", linspace},
      {"linspace.Tensor_Tensor", linspace_of_tensors},
      {"linspace.Tensor_Scalar", linspace_of_tensors},
      {"linspace.Scalar_Tensor", linspace_of_tensors},
      {"logspace", logspace},
      {"logspace.Tensor_Tensor", logspace},
      {"logspace.Tensor_Scalar", logspace},
      {"logspace.Scalar_Tensor", logspace},
      {"eye", eye},
      {"eye.m", eye},
      {"hann_window", hann_window},
      {"hann_window.periodic", hann_window},
      {"hamming_window", hamming_window},
      {"hamming_window.periodic", hamming_window},
      {"hamming_window.periodic_alpha", hamming_window},
      {"hamming_window.periodic_alpha_beta", hamming_window},
      {"blackman_window", blackman_window},
      {"blackman_window.periodic", blackman_window},
      {"kaiser_window", kaiser_window},
      {"kaiser_window.periodic", kaiser_window},
      {"kaiser_window.beta", kaiser_window},
      {"fft_fftfreq", fftfreq},
      {"fft_rfftfreq", rfftfreq},
      {"bartlett_window", bartlett_window},
      {"bartlett_window.periodic", bartlett_window},
  };
  return table;
}

}  // namespace taper::exir
