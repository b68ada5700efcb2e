// The rules for element-wise operators.

#include <algorithm>
#include <cmath>

#include "backends/xnnpack/aot/op_table.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Value;
using wire::NodeContent;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Sets `id` to the tensor in its current layout; true if that is channels last.
bool layout_of(Lowering& l, const Value* x, Id* id) {
  const bool image = l.is_image(x);
  *id = image ? l.image(x) : l.plain(x);
  return image;
}

template <NodeContent kKind>
void unary(Lowering& l, const Node& node) {
  Id x;
  const bool image = layout_of(l, tensor(node), &x);
  l.set_like(node.outputs[0], image, l.unary(kKind, x));
}

void clamp_to(Lowering& l, const Node& node, float min, float max) {
  Id x;
  const bool image = layout_of(l, tensor(node), &x);
  if (!l.clamp_maker(tensor(node), x, min, max)) x = l.clamp(x, min, max);
  l.set_like(node.outputs[0], image, x);
}

void relu(Lowering& l, const Node& node) { clamp_to(l, node, 0, kInfinity); }

float bound(const exir::Argument& arg, float open) {
  return arg.is_none() ? open : static_cast<float>(arg.to_double());
}
void clamp(Lowering& l, const Node& node) {
  clamp_to(l, node, bound(node.arg(1), -kInfinity), bound(node.arg(2), kInfinity));
}
std::string clamp_refusal(const Node& node) {
  for (size_t i : {1, 2}) {
    if (!node.arg(i).is_none() && !is_known(node.arg(i))) return "a bound is not constant";
  }
  const float min = bound(node.arg(1), -kInfinity), max = bound(node.arg(2), kInfinity);
  return min < max ? "" : "the lower bound is not below the upper bound";
}

void with_number(Lowering& l, const Node& node, NodeContent kind, float number) {
  Id x;
  const bool image = layout_of(l, tensor(node), &x);
  NodeSpec spec;
  spec.kind = kind;
  spec.inputs = {x};
  spec.number = number;
  l.set_like(node.outputs[0], image, l.out().add(std::move(spec), l.out().dims(x)));
}
void leaky_relu(Lowering& l, const Node& node) {
  with_number(l, node, NodeContent::LeakyRelu, static_cast<float>(node.arg(1).to_double()));
}
std::string leaky_relu_refusal(const Node& node) {
  return is_known(node.arg(1)) && std::isfinite(node.arg(1).to_double())
             ? ""
             : "the slope is not a finite constant";
}
void elu(Lowering& l, const Node& node) {
  with_number(l, node, NodeContent::Elu, static_cast<float>(node.arg(1).to_double()));
}
std::string elu_refusal(const Node& node) {
  const bool plain = is_known(node.arg(1)) && is_known(node.arg(2)) && is_known(node.arg(3)) &&
                     node.arg(1).to_double() > 1e-30 && node.arg(2).to_double() == 1 &&
                     node.arg(3).to_double() == 1;
  return plain ? "" : "its factors are not those of a plain ELU";
}

// With tanh it is x * sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 * x^3)).
void gelu(Lowering& l, const Node& node) {
  if (node.arg(1).text() == "none") return unary<NodeContent::Gelu>(l, node);
  Id x;
  const bool image = layout_of(l, tensor(node), &x);
  if (!l.for_executorch()) {
    return l.set_like(node.outputs[0], image, l.taper_node(NodeContent::GeluTanh, {x}));
  }
  const double factor = 2 * std::sqrt(2 / 3.14159265358979323846);
  const Id square = l.unary(NodeContent::Square, x);
  Id sum = l.binary(NodeContent::Multiply, square, l.number(static_cast<float>(factor * 0.044715)));
  sum = l.binary(NodeContent::Add, sum, l.number(static_cast<float>(factor)));
  const Id gate = l.unary(NodeContent::Sigmoid, l.binary(NodeContent::Multiply, sum, x));
  l.set_like(node.outputs[0], image, l.binary(NodeContent::Multiply, x, gate));
}

constexpr double kPowers[] = {2, 0.5, -0.5, 3, -1, -2};

// x raised to one of kPowers.
Id power_of(Lowering& l, Id x, double exponent) {
  if (exponent == 0.5) return l.unary(NodeContent::SquareRoot, x);
  if (exponent == -0.5) return l.unary(NodeContent::ReciprocalSquareRoot, x);
  if (exponent == -1) return l.binary(NodeContent::Divide, l.number(1), x);
  const Id square = l.unary(NodeContent::Square, x);
  if (exponent == 3) return l.binary(NodeContent::Multiply, square, x);
  return exponent == 2 ? square : l.binary(NodeContent::Divide, l.number(1), square);
}
void power(Lowering& l, const Node& node) {
  Id x;
  const bool image = layout_of(l, tensor(node), &x);
  l.set_like(node.outputs[0], image, power_of(l, x, node.arg(1).to_double()));
}
std::string power_refusal(const Node& node) {
  if (!is_known(node.arg(1))) return "the exponent is not constant";
  for (const double known : kPowers) {
    if (node.arg(1).to_double() == known) return "";
  }
  return "the exponent is not one of 2, 3, -1, -2, 0.5 and -0.5";
}

// Computes the first half times the sigmoid of the second.
void glu(Lowering& l, const Node& node) {
  const Value* x = tensor(node);
  const size_t rank = x->type.rank(), dim = dim_of(node.arg(1), rank);
  Id both;
  const bool image = layout_of(l, x, &both);
  const size_t place = image ? to_plain(rank)[dim] : dim;
  const int64_t half = x->type.sizes[dim].as_int() / 2;
  const Id gate = l.unary(NodeContent::Sigmoid, l.slice(both, place, half, half));
  const Id y = l.binary(NodeContent::Multiply, l.slice(both, place, 0, half), gate);
  l.set_like(node.outputs[0], image, y);
}
std::string glu_refusal(const Node& node) {
  const Value* x = tensor(node);
  return x->type.sizes[dim_of(node.arg(1), x->type.rank())].is_int() ? "" : "a size is dynamic";
}

void reciprocal(Lowering& l, const Node& node) {
  Id x;
  const bool image = layout_of(l, tensor(node), &x);
  l.set_like(node.outputs[0], image, l.binary(NodeContent::Divide, l.number(1), x));
}

// ---- operators of two tensors ----

// The tensor channels last with `rank` dimensions: leading dimensions of size 1 are added.
Id as_image(Lowering& l, const Value* value, size_t rank) {
  if (value->type.rank() == rank) return l.image(value);
  Dims dims(rank - value->type.rank(), exir::Sym(1));
  dims.insert(dims.end(), value->type.sizes.begin(), value->type.sizes.end());
  return l.transpose(l.reshape(l.plain(value), std::move(dims)), to_image(rank));
}

bool is_result(const Dims& dims, const Value* y) { return dims == y->type.sizes; }

void two(Lowering& l, const Node& node, NodeContent kind, float alpha) {
  const Value *a = tensor(node, 0), *b = tensor(node, 1), *y = node.outputs[0];
  const size_t rank = y->type.rank();
  const bool image =
      (l.is_image(a) && a->type.rank() == rank) || (l.is_image(b) && b->type.rank() == rank);
  bool loose = false;
  if (!image) {  // Either call of loose() may invalidate the reference that dims() returns.
    const Id x = l.loose(a), other = l.loose(b);
    loose = is_result(broadcast(l.out().dims(x), l.out().dims(other)), y);
  }
  const auto form = [&](const Value* v) {
    return image ? as_image(l, v, rank) : loose ? l.loose(v) : l.plain(v);
  };
  const Id x = form(a);
  Id other = form(b);
  if (alpha != 1) other = l.binary(NodeContent::Multiply, other, l.number(alpha));
  l.set_like(y, image, l.binary(kind, x, other));
}
template <NodeContent kKind>
void binary(Lowering& l, const Node& node) {
  two(l, node, kKind, 1);
}
template <NodeContent kKind>
void scaled_binary(Lowering& l, const Node& node) {
  two(l, node, kKind, static_cast<float>(node.arg("alpha").to_double()));
}
// XNNPACK lays out a graph for the upper bounds of sizes, which have to broadcast, too.
std::string pair_refusal(const Node& node) {
  const Dims &a = tensor(node, 0)->type.sizes, &b = tensor(node, 1)->type.sizes;
  for (size_t d = 1; d <= std::min(a.size(), b.size()); ++d) {
    const exir::Sym &x = a[a.size() - d], &y = b[b.size() - d];
    const bool fits = x == y || x == exir::Sym(1) || y == exir::Sym(1);
    if (!fits) return "whether its sizes are equal is known only at run time";
  }
  return "";
}
std::string alpha_refusal(const Node& node) {
  return is_known(node.arg("alpha")) ? pair_refusal(node) : "alpha is not constant";
}

// Computes x where it is positive, and x times the slope of its channel elsewhere.
void prelu(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *slope = tensor(node, 1);
  const size_t rank = x->type.rank();
  const bool image = l.is_image(x) || (l.for_executorch() && (rank == 3 || rank == 4));
  Dims dims = {slope->type.numel()};
  if (!image && dims[0] != exir::Sym(1)) dims.insert(dims.end(), rank - 2, exir::Sym(1));
  const Id in = image ? l.image(x) : l.plain(x);
  const Id slopes = l.reshape(l.weights(slope), std::move(dims));
  l.set_like(node.outputs[0], image, l.binary(NodeContent::PRelu, in, slopes));
}
std::string prelu_refusal(const Node& node) {
  const Value *x = tensor(node), *slope = tensor(node, 1);
  if (!is_constant(slope)) return "the slope is not constant";
  const bool has_channels = x->type.rank() >= 2 && x->type.sizes[1] == slope->type.numel();
  const size_t rank = slope->type.rank();
  const bool by_channel =
      has_channels &&
      (rank == 1 || (rank == x->type.rank() && slope->type.sizes[1] == slope->type.numel()));
  return by_channel || slope->type.numel() == exir::Sym(1) ? "" : "its slopes are not per channel";
}

// x * tanh(log(1 + e^x)), which is x * n / (n + 2) for n = e^x * (e^x + 2).
void mish(Lowering& l, const Node& node) {
  constexpr float kOneFromThere = 20;
  Id x;
  const bool image = layout_of(l, tensor(node), &x);
  const Id two = l.number(2);
  const Id power = l.unary(NodeContent::Exp, l.clamp(x, -kInfinity, kOneFromThere));
  const Id n = l.binary(NodeContent::Multiply, power, l.binary(NodeContent::Add, power, two));
  const Id share = l.binary(NodeContent::Divide, n, l.binary(NodeContent::Add, n, two));
  l.set_like(node.outputs[0], image, l.binary(NodeContent::Multiply, x, share));
}

// ---- operators of a tensor and a number ----

std::string number_refusal(const Node& node) {
  for (size_t i = 1; i < node.args.size(); ++i) {
    if (!is_known(node.arg(i))) return "a number is not constant";
  }
  return std::isfinite(node.arg(1).to_double()) ? "" : "the number is not finite";
}

void with_scalar(Lowering& l, const Node& node, NodeContent kind, double number, bool reversed) {
  Id x;
  const bool image = layout_of(l, tensor(node), &x);
  const Id n = l.number(static_cast<float>(number));
  l.set_like(node.outputs[0], image, reversed ? l.binary(kind, n, x) : l.binary(kind, x, n));
}
template <NodeContent kKind>
void scalar(Lowering& l, const Node& node) {
  with_scalar(l, node, kKind, node.arg(1).to_double(), false);
}
template <NodeContent kKind>
void scaled_scalar(Lowering& l, const Node& node) {
  with_scalar(l, node, kKind, node.arg(1).to_double() * node.arg("alpha").to_double(), false);
}
void reversed_subtract(Lowering& l, const Node& node) {
  with_scalar(l, node, NodeContent::Subtract, node.arg(1).to_double(), true);
}
std::string rsub_refusal(const Node& node) {
  const std::string why = number_refusal(node);
  return !why.empty() || node.arg("alpha").to_double() == 1 ? why : "alpha is not 1";
}

constexpr OpRule kTable[] = {
    {"aten::abs", nullptr, unary<NodeContent::Abs>, 1},
    {"aten::ceil", nullptr, unary<NodeContent::Ceiling>, 1},
    {"aten::cos", nullptr, unary<NodeContent::Cos>, 1},
    {"aten::exp", nullptr, unary<NodeContent::Exp>, 1},
    {"aten::floor", nullptr, unary<NodeContent::Floor>, 1},
    {"aten::gelu", nullptr, gelu, 1},
    {"aten::glu", glu_refusal, glu, 1},
    {"aten::hardswish", nullptr, unary<NodeContent::Hardswish>, 1},
    {"aten::log", nullptr, unary<NodeContent::Log>, 1},
    {"aten::neg", nullptr, unary<NodeContent::Negate>, 1},
    {"aten::rsqrt", nullptr, unary<NodeContent::ReciprocalSquareRoot>, 1},
    {"aten::sin", nullptr, unary<NodeContent::Sin>, 1},
    {"aten::sigmoid", nullptr, unary<NodeContent::Sigmoid>, 1},
    {"aten::sqrt", nullptr, unary<NodeContent::SquareRoot>, 1},
    {"aten::tanh", nullptr, unary<NodeContent::Tanh>, 1},

    {"aten::relu", nullptr, relu, 1},
    {"aten::hardtanh", clamp_refusal, clamp, 1},
    {"aten::clamp", clamp_refusal, clamp, 1},
    {"aten::mish", nullptr, mish, 1},
    {"aten::prelu", prelu_refusal, prelu, 1},
    {"aten::_prelu_kernel", prelu_refusal, prelu, 1},
    {"aten::leaky_relu", leaky_relu_refusal, leaky_relu, 1},
    {"aten::elu", elu_refusal, elu, 1},
    {"aten::pow.Tensor_Scalar", power_refusal, power, 1},
    {"aten::reciprocal", nullptr, reciprocal, 1},

    {"aten::add.Tensor", alpha_refusal, scaled_binary<NodeContent::Add>, 1},
    {"aten::sub.Tensor", alpha_refusal, scaled_binary<NodeContent::Subtract>, 1},
    {"aten::mul.Tensor", pair_refusal, binary<NodeContent::Multiply>, 1},
    {"aten::div.Tensor", pair_refusal, binary<NodeContent::Divide>, 1},
    {"aten::minimum", pair_refusal, binary<NodeContent::Minimum>, 1},
    {"aten::maximum", pair_refusal, binary<NodeContent::Maximum>, 1},

    {"aten::add.Scalar", number_refusal, scaled_scalar<NodeContent::Add>, 1},
    {"aten::sub.Scalar", number_refusal, scaled_scalar<NodeContent::Subtract>, 1},
    {"aten::mul.Scalar", number_refusal, scalar<NodeContent::Multiply>, 1},
    {"aten::div.Scalar", number_refusal, scalar<NodeContent::Divide>, 1},
    {"aten::rsub.Scalar", rsub_refusal, reversed_subtract, 1},
};

}  // namespace

const std::span<const OpRule> kElementRules{kTable};

}  // namespace taper::xnnpack
