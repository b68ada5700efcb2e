// Means, softmax and norms.

#include "backends/xnnpack/aot/op_table.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Value;
using wire::NodeContent;

bool is_of_image(const std::vector<size_t>& dims, size_t rank) {
  return rank == 4 && dims == std::vector<size_t>{2, 3};
}
bool are_last(const std::vector<size_t>& dims, size_t rank) {
  return !dims.empty() && dims.back() == rank - 1 && dims.front() == rank - dims.size();
}

void mean(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t rank = x->type.rank();
  const std::vector<size_t> dims = dims_of(node.arg(1), rank);
  const bool keep = node.arg("keepdim").to_bool();
  if (!is_of_image(dims, rank) || !l.is_image(x)) {
    const Id result = l.mean_of_last(l.plain(x), dims.size());
    return l.set_plain(y, l.reshape(result, y->type.sizes));
  }
  const Dims image = l.out().dims(l.image(x));
  NodeSpec spec;
  spec.kind = NodeContent::GlobalAvgPool2d;
  spec.inputs = {l.image(x)};
  spec.flags = 64;  // The dimensions stay.
  const Id result = l.out().add(std::move(spec), {image[0], 1, 1, image[3]});
  keep ? l.set_image(y, result) : l.set_plain(y, l.reshape(result, {image[0], image[3]}));
}

std::string mean_refusal(const Node& node) {
  const Value* x = tensor(node);
  const size_t rank = x->type.rank();
  if (rank == 0) return "the input has no dimension";
  const std::vector<size_t> dims = dims_of(node.arg(1), rank);
  if (!are_last(dims, rank)) return "it is not over the last dimensions";
  int open = 0;
  for (const exir::Sym& size : x->type.sizes) open += !size.is_int();
  return open <= 1 ? "" : "more than one size is open";
}

void softmax(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t rank = x->type.rank();
  const size_t dim = dim_of(node.arg(1), rank);
  if (l.is_image(x) && dim == 1) {  // The last one, as it lies.
    return l.set_image(y, l.unary(NodeContent::Softmax, l.image(x)));
  }
  if (dim + 1 == rank) return l.set_plain(y, l.unary(NodeContent::Softmax, l.plain(x)));
  std::vector<uint32_t> swap;
  for (uint32_t d = 0; d < rank; ++d) swap.push_back(d);
  std::swap(swap[dim], swap[rank - 1]);
  const Id last = l.unary(NodeContent::Softmax, l.transpose(l.plain(x), swap));
  l.set_plain(y, l.transpose(last, swap));
}
std::string softmax_refusal(const Node& node) {
  if (tensor(node)->type.rank() == 0) return "the input has no dimension";
  return node.arg(2).to_bool() ? "it changes the type" : "";
}

// (x - mean) / sqrt(variance + eps) * weight + bias.
void layer_norm(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t count = node.arg("normalized_shape").list().size();
  const Id in = l.plain(x);
  const Id centered = l.binary(NodeContent::Subtract, in, l.mean_of_last(in, count));
  const Id variance = l.mean_of_last(l.unary(NodeContent::Square, centered), count);
  const auto eps = static_cast<float>(node.arg("eps").to_double());
  const Id factor = l.unary(NodeContent::ReciprocalSquareRoot,
                            l.binary(NodeContent::Add, variance, l.number(eps)));
  Id out = l.binary(NodeContent::Multiply, centered, factor);
  if (!node.arg("weight").is_none()) {
    out = l.binary(NodeContent::Multiply, out, l.plain(tensor(node, "weight")));
  }
  if (!node.arg("bias").is_none()) {
    out = l.binary(NodeContent::Add, out, l.plain(tensor(node, "bias")));
  }
  l.set_plain(y, out);
}
std::string layer_norm_refusal(const Node& node) {
  int open = 0;
  for (const exir::Sym& size : tensor(node)->type.sizes) open += !size.is_int();
  if (open > 1) return "more than one size is open";
  return is_known(node.arg("eps")) ? "" : "eps is computed";
}

constexpr OpRule kTable[] = {
    {"aten::mean.dim", mean_refusal, mean, 1},
    {"aten::_softmax", softmax_refusal, softmax, 2},
    {"aten::native_layer_norm", layer_norm_refusal, layer_norm, 2, true},
};

}  // namespace

const std::span<const OpRule> kReduceRules{kTable};

}  // namespace taper::xnnpack
