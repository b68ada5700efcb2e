// The rules for matrix products. Weights are constants [out, in].

#include "backends/xnnpack/aot/bytes/wide_weights.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/weight_forms.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Sym;
using exir::Value;
using wire::NodeContent;

bool is_known_one(const exir::Argument& arg) { return is_known(arg) && arg.to_double() == 1; }

// x times the transpose of a matrix that is not constant.
Id computed_layer(Lowering& l, Id x, Id weights) {
  const Dims given = l.out().dims(x);
  Sym rows = 1;
  for (size_t d = 0; d + 1 < given.size(); ++d) rows = rows * given[d];
  const Id y = l.product(l.reshape(x, {rows, given.back()}), weights, true);
  Dims dims = given;
  dims.back() = l.out().dims(weights)[0];
  return l.reshape(y, std::move(dims));
}

void linear(Lowering& l, const Node& node) {
  const Value *weights = tensor(node, 1), *y = node.outputs[0];
  const Value* bias = node.arg(2).is_none() ? nullptr : tensor(node, 2);
  const Id x = l.plain(tensor(node, 0));
  if (is_constant(weights) && (bias == nullptr || is_constant(bias))) {
    const Id id = bias == nullptr ? kNone : l.weights(bias);
    return l.set_plain(y, l.connected(x, l.weights(weights), id));
  }
  const Id id = is_constant(weights) ? l.connected(x, l.weights(weights), kNone)
                                     : computed_layer(l, x, l.plain(weights));
  l.set_plain(y, bias == nullptr ? id : l.binary(NodeContent::Add, id, l.plain(bias)));
}
std::string linear_refusal(const Node& node) {
  const Value *x = tensor(node, 0), *weights = tensor(node, 1);
  return x->type.rank() == 0 || weights->type.rank() != 2 ? "the weights are not a matrix" : "";
}

// Weights of integers are not made floats without need.
std::string weights_refusal(const Node& node, const exir::Graph& graph) {
  const Value *x = tensor(node, 0), *weights = tensor(node, 1);
  if (weights->scales == nullptr) return "";
  const bool by_rows = is_quantised_by_rows(x, graph);
  if (form_of(*weights->scales, weights->type.sizes, by_rows)) return "";
  if (may_be_split(*weights, 0) && is_between_bytes(node, graph)) return "";
  return "XNNPACK has no kernel for its weights of " + std::to_string(weights->scales->bits) +
         " bits in groups or with zero points; they stay integers in a kernel of Taper's";
}

// Transposes a constant [in, out] to [out, in].
Id transposed_weights(Lowering& l, const Value* value) {
  return l.transpose(l.weights(value), {1, 0});
}

bool is_bias(const Value* bias, const Value* weights) {
  return is_constant(bias) && bias->type.rank() == 1 &&
         bias->type.sizes[0] == weights->type.sizes[1];
}

Id scaled(Lowering& l, Id x, const exir::Argument& factor) {
  if (factor.to_double() == 1) return x;
  return l.binary(NodeContent::Multiply, x, l.number(static_cast<float>(factor.to_double())));
}

// Whether a node transposes the last two dimensions, which a product can do by a flag.
bool is_turned(const NodeSpec* maker) {
  if (maker == nullptr || maker->kind != NodeContent::Transpose) return false;
  const size_t rank = maker->list.size();
  for (size_t d = 0; d + 2 < rank; ++d) {
    if (maker->list[d] != d) return false;
  }
  return rank >= 2 && maker->list[rank - 1] == rank - 2;
}

Id product_of(Lowering& l, const Value* x, const Value* y) {
  const Id a = l.plain(x);
  if (y->type.rank() == 2 && is_constant(y)) {
    return l.connected(a, transposed_weights(l, y), kNone);
  }
  const Id b = l.plain(y);
  const NodeSpec* maker = l.out().maker(b);
  return is_turned(maker) ? l.product(a, maker->inputs[0], true) : l.product(a, b, false);
}

void product(Lowering& l, const Node& node) {
  l.set_plain(node.outputs[0], product_of(l, tensor(node, 0), tensor(node, 1)));
}

// beta * added + alpha * a @ b.
void added_product(Lowering& l, const Node& node) {
  const Value *added = tensor(node, 0), *a = tensor(node, 1), *b = tensor(node, 2);
  const bool ones = is_known_one(node.arg("beta")) && is_known_one(node.arg("alpha"));
  if (ones && is_constant(b) && b->type.rank() == 2 && is_bias(added, b)) {
    const Id in = l.plain(a), weights = transposed_weights(l, b), bias = l.weights(added);
    return l.set_plain(node.outputs[0], l.connected(in, weights, bias));
  }
  const Id y = scaled(l, product_of(l, a, b), node.arg("alpha"));
  l.set_plain(node.outputs[0],
              l.binary(NodeContent::Add, y, scaled(l, l.plain(added), node.arg("beta"))));
}
// A factor of 0 gives 0 even if the other operand is NaN or infinite, so it is refused.
std::string added_refusal(const Node& node) {
  for (const char* name : {"beta", "alpha"}) {
    if (!is_known(node.arg(name)) || node.arg(name).to_double() == 0) {
      return "a factor is 0 or not constant";
    }
  }
  return "";
}

constexpr OpRule kTable[] = {
    {"aten::linear", linear_refusal, linear, 2, false, Types::kFloats, weights_refusal},
    {"aten::addmm", added_refusal, added_product, 2},
    {"aten::baddbmm", added_refusal, added_product, 2},
    {"aten::mm", nullptr, product, 2},
    {"aten::bmm", nullptr, product, 2},
};

}  // namespace

const std::span<const OpRule> kMatrixRules{kTable};

}  // namespace taper::xnnpack
