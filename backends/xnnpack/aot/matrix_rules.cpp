// Products of matrices. Weights are constants of [out, in].

#include "backends/xnnpack/aot/op_table.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Value;
using wire::NodeContent;

constexpr uint32_t kTransposedB = 1;

void connected(Lowering& l, const Value* y, Id x, Id filter, Id bias) {
  Dims dims = l.out().dims(x);
  dims.back() = l.out().dims(filter)[0];
  NodeSpec spec;
  spec.kind = NodeContent::FullyConnected;
  spec.inputs = {x, filter, bias};
  l.set_plain(y, l.out().add(std::move(spec), std::move(dims)));
}

Id optional_bias(Lowering& l, const exir::Argument& arg) {
  return arg.is_none() ? kNone : l.weights(arg.value());
}

void linear(Lowering& l, const Node& node) {
  connected(l, node.outputs[0], l.plain(tensor(node, 0)), l.weights(tensor(node, 1)),
            optional_bias(l, node.arg(2)));
}
std::string linear_refusal(const Node& node) {
  if (tensor(node, 0)->type.rank() == 0) return "the input has no dimension";
  if (!is_constant(tensor(node, 1)) || tensor(node, 1)->type.rank() != 2) {
    return "the weights are not constant";
  }
  return node.arg(2).is_none() || is_constant(node.arg(2).value()) ? ""
                                                                   : "the bias is not constant";
}

void addmm(Lowering& l, const Node& node) {
  connected(l, node.outputs[0], l.plain(tensor(node, 1)),
            l.transpose(l.weights(tensor(node, 2)), {1, 0}), l.weights(tensor(node, 0)));
}
std::string addmm_refusal(const Node& node) {
  const Value *bias = tensor(node, 0), *weights = tensor(node, 2);
  if (!is_constant(weights) || !is_constant(bias)) return "the weights or bias are not constant";
  if (bias->type.rank() != 1 || bias->type.sizes[0] != weights->type.sizes[1]) {
    return "what is added is no bias";
  }
  for (const char* name : {"beta", "alpha"}) {
    if (!is_known(node.arg(name)) || node.arg(name).to_double() != 1) return "a factor is not 1";
  }
  return "";
}

Dims product_dims(const Dims& a, const Dims& b, bool turned) {
  Dims dims = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  dims.push_back(a[a.size() - 2]);
  dims.push_back(b[b.size() - (turned ? 2 : 1)]);
  return dims;
}

// A transpose of the last two dimensions right before the product is a flag of it.
bool is_turned(const NodeSpec* maker) {
  if (maker == nullptr || maker->kind != NodeContent::Transpose) return false;
  const size_t rank = maker->list.size();
  for (size_t d = 0; d + 2 < rank; ++d) {
    if (maker->list[d] != d) return false;
  }
  return rank >= 2 && maker->list[rank - 1] == rank - 2;
}

void product(Lowering& l, const Node& node) {
  const Id a = l.plain(tensor(node, 0));
  Id b = l.plain(tensor(node, 1));
  NodeSpec spec;
  spec.kind = NodeContent::BatchMatrixMultiply;
  const NodeSpec* maker = l.out().maker(b);
  if (is_turned(maker)) {
    b = maker->inputs[0];
    spec.flags = kTransposedB;
  }
  spec.inputs = {a, b};
  Dims dims = product_dims(l.out().dims(a), l.out().dims(b), spec.flags != 0);
  l.set_plain(node.outputs[0], l.out().add(std::move(spec), std::move(dims)));
}

void mm(Lowering& l, const Node& node) {
  if (!is_constant(tensor(node, 1))) return product(l, node);
  connected(l, node.outputs[0], l.plain(tensor(node, 0)),
            l.transpose(l.weights(tensor(node, 1)), {1, 0}), kNone);
}

constexpr OpRule kTable[] = {
    {"aten::linear", linear_refusal, linear, 2},
    {"aten::addmm", addmm_refusal, addmm, 2},
    {"aten::mm", nullptr, mm, 2},
    {"aten::bmm", nullptr, product, 2},
};

}  // namespace

const std::span<const OpRule> kMatrixRules{kTable};

}  // namespace taper::xnnpack
