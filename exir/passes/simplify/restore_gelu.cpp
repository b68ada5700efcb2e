// Multiplies out what is computed of x and tanh; see restore_gelu.h.

#include "exir/passes/simplify/restore_gelu.h"

#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <vector>

#include "exir/ir/rewrite.h"

namespace taper::exir {
namespace {

constexpr size_t kDegree = 3;  // Of x.
// The most nodes between the result and tanh, and between tanh and x.
constexpr int kMostSteps = 5;

// A polynomial of x, plus another one times tanh. coefficients[t][d] is that of tanh^t x^d.
struct Polynomial {
  std::array<std::array<double, kDegree + 1>, 2> coefficients = {};
};

Polynomial term(size_t of_tanh, size_t degree, double factor) {
  Polynomial p;
  p.coefficients[of_tanh][degree] = factor;
  return p;
}

Polynomial sum(const Polynomial& a, const Polynomial& b, double factor) {
  Polynomial p = a;
  for (size_t t = 0; t < 2; ++t) {
    for (size_t d = 0; d <= kDegree; ++d) p.coefficients[t][d] += factor * b.coefficients[t][d];
  }
  return p;
}

// Nothing if the degree is too large.
std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial p;
  for (size_t i = 0; i < 2 * 2 * (kDegree + 1) * (kDegree + 1); ++i) {
    const size_t s = i % 2, t = i / 2 % 2, c = i / 4 % (kDegree + 1), d = i / 4 / (kDegree + 1);
    const double factor = a.coefficients[s][c] * b.coefficients[t][d];
    if (factor == 0) continue;
    if (s + t > 1 || c + d > kDegree) return std::nullopt;
    p.coefficients[s + t][c + d] += factor;
  }
  return p;
}

bool is_near(const Polynomial& p, const Polynomial& expected) {
  for (size_t t = 0; t < 2; ++t) {
    for (size_t d = 0; d <= kDegree; ++d) {
      const double want = expected.coefficients[t][d];
      if (!(std::fabs(p.coefficients[t][d] - want) <= 1e-6 * std::fabs(want))) return false;
    }
  }
  return true;
}

bool is_number(const Argument& arg) { return arg.is<int64_t>() || arg.is<double>(); }

bool is_sum(const Node& node) { return node.is("aten::add.Tensor") || node.is("aten::add.Scalar"); }
bool is_product(const Node& node) {
  return node.is("aten::mul.Tensor") || node.is("aten::mul.Scalar");
}
bool is_power(const Node& node) { return node.is("aten::pow.Tensor_Scalar"); }

const Node* producer_of(const Argument& arg) {
  return arg.is_value() && arg.value()->kind == ValueKind::kTensor ? arg.value()->producer
                                                                   : nullptr;
}

// What an argument is of x and tanh, where `tanh` may be null.
class Expansion {
 public:
  Expansion(const Value* x, const Value* tanh) : x_(x), tanh_(tanh) {}

  std::optional<Polynomial> of(const Argument& arg, int steps = kMostSteps) const {
    if (is_number(arg)) return term(0, 0, arg.to_double());
    if (!arg.is_value()) return std::nullopt;
    if (arg.value() == x_) return term(0, 1, 1);
    if (arg.value() == tanh_) return term(1, 0, 1);
    const Node* node = producer_of(arg);
    if (node == nullptr || steps == 0 || arg.value()->type != x_->type) return std::nullopt;
    if (is_power(*node)) return power(*node, steps - 1);
    if (!is_sum(*node) && !is_product(*node)) return std::nullopt;
    const auto a = of(node->arg(0), steps - 1), b = of(node->arg(1), steps - 1);
    if (!a || !b) return std::nullopt;
    if (is_product(*node)) return product(*a, *b);
    if (!is_number(node->arg("alpha"))) return std::nullopt;
    return sum(*a, *b, node->arg("alpha").to_double());
  }

 private:
  std::optional<Polynomial> power(const Node& node, int steps) const {
    if (!is_number(node.arg(1))) return std::nullopt;
    const double exponent = node.arg(1).to_double();
    if (exponent != 2 && exponent != 3) return std::nullopt;
    const auto base = of(node.arg(0), steps);
    auto result = base;
    for (int i = 1; i < exponent && result; ++i) result = product(*result, *base);
    return result;
  }

  const Value* x_;
  const Value* tanh_;
};

// The values of which a few sums, products and powers compute an argument, itself included.
void find_parts(const Argument& arg, int steps, std::vector<Value*>& parts) {
  if (!arg.is_value() || arg.value()->kind != ValueKind::kTensor) return;
  parts.push_back(arg.value());
  const Node* node = arg.value()->producer;
  if (node == nullptr || steps == 0) return;
  if (!is_sum(*node) && !is_product(*node) && !is_power(*node)) return;
  find_parts(node->arg(0), steps - 1, parts);
  if (!is_power(*node)) find_parts(node->arg(1), steps - 1, parts);
}

// The x of which the node computes the gelu, if it does.
Value* input_of_gelu(const Node& node) {
  const double factor = std::sqrt(2 / 3.14159265358979323846);
  const Polynomial inner = sum(term(0, 1, factor), term(0, 3, 0.044715 * factor), 1);
  const Polynomial whole = sum(term(0, 1, 0.5), term(1, 1, 0.5), 1);
  Value* const result = node.outputs[0];
  std::vector<Value*> outside;
  find_parts(result, 3, outside);
  for (const Value* tanh : outside) {
    if (tanh->producer == nullptr || !tanh->producer->is("aten::tanh")) continue;
    std::vector<Value*> inside;
    find_parts(tanh->producer->arg(0), kMostSteps, inside);
    for (Value* x : inside) {
      if (x->type != result->type) continue;
      const auto argument = Expansion(x, nullptr).of(tanh->producer->arg(0));
      if (!argument || !is_near(*argument, inner)) continue;
      const auto all = Expansion(x, tanh).of(result);
      if (all && is_near(*all, whole)) return x;
    }
  }
  return nullptr;
}

bool visit(Node& node, Rewriter& rewriter) {
  if (!is_product(node) || node.outputs[0]->type.dtype != ScalarType::kFloat) return false;
  Value* x = input_of_gelu(node);
  if (x == nullptr) return false;
  const std::vector<TensorType> type = {node.outputs[0]->type};
  rewriter.replace(node.outputs[0], rewriter.emit("aten::gelu", {x, "tanh"}, type)[0]);
  return true;
}

}  // namespace

int restore_gelu(Graph& graph) {
  int count = 0;
  for (Graph* each : all_graphs(graph)) count += rewrite(*each, visit);
  return count;
}

}  // namespace taper::exir
