// The rules for norms. Each is one node or, for ExecuTorch and if weights are not constant,
// primitive nodes.

#include <cmath>

#include "backends/xnnpack/aot/op_table.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Sym;
using exir::Value;
using wire::NodeContent;

float eps_of(const Node& node) { return static_cast<float>(node.arg("eps").to_double()); }

// Computes (x - mean) / sqrt(variance + eps).
template <typename Mean>
Id normalized(Lowering& l, Id x, float eps, const Mean& mean) {
  const Id centered = l.binary(NodeContent::Subtract, x, mean(x));
  const Id variance = mean(l.unary(NodeContent::Square, centered));
  const Id factor = l.unary(NodeContent::ReciprocalSquareRoot,
                            l.binary(NodeContent::Add, variance, l.number(eps)));
  return l.binary(NodeContent::Multiply, centered, factor);
}

// Multiplies the normalised tensor by the weights and adds the bias, if the call has them.
Id weighted(Lowering& l, const Node& node, Id x) {
  for (const auto& [name, kind] :
       {std::pair{"weight", NodeContent::Multiply}, std::pair{"bias", NodeContent::Add}}) {
    if (!node.arg(name).is_none()) x = l.binary(kind, x, l.plain(tensor(node, name)));
  }
  return x;
}

// Whether the call can become a node of Taper's own kinds, whose weights are constants.
bool may_be_node(const Lowering& l, const Node& node) {
  if (l.for_executorch()) return false;
  for (const char* name : {"weight", "bias"}) {
    const exir::Argument& arg = node.arg(name);
    if (!arg.is_none() && !is_constant(arg.value())) return false;
  }
  return true;
}

// The weight or bias of such a call; kNone if it has none.
Id entries(Lowering& l, const Node& node, const char* name) {
  return node.arg(name).is_none() ? kNone : l.plain(tensor(node, name));
}

// The call as a node of its own kind. `number` is the number of row dimensions or of groups.
Id norm_node(Lowering& l, const Node& node, NodeContent kind, Id x, int64_t number) {
  return l.taper_node(kind, {x, entries(l, node, "weight"), entries(l, node, "bias")},
                      {static_cast<uint32_t>(number)}, eps_of(node));
}

void layer_norm(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const size_t count = node.arg("normalized_shape").list().size();
  const Id in = l.plain(x);
  if (may_be_node(l, node) && count > 0) {
    return l.set_plain(y,
                       norm_node(l, node, NodeContent::LayerNorm, in, static_cast<int64_t>(count)));
  }
  const Id out = normalized(l, in, eps_of(node), [&](Id id) { return l.mean_of_last(id, count); });
  l.set_plain(y, weighted(l, node, out));
}
std::string layer_norm_refusal(const Node& node) {
  return is_known(node.arg("eps")) ? "" : "eps is not constant";
}

// ---- batch norms that are not folded into a convolution ----

const float* floats(const exir::Argument& arg) {
  return arg.is_none() ? nullptr : reinterpret_cast<const float*>(arg.value()->data.data);
}

// The sizes of a tensor with one number per channel, which broadcasts with the given layout.
Dims channel_dims(int64_t channels, size_t rank, bool image) {
  Dims dims = {channels};
  if (!image) dims.insert(dims.end(), rank - 2, Sym(1));
  return dims;
}

void batch_norm(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const auto channels = static_cast<size_t>(x->type.sizes[1].as_int());
  const float *weight = floats(node.arg("weight")), *bias = floats(node.arg("bias"));
  const float *mean = floats(node.arg("running_mean")), *var = floats(node.arg("running_var"));
  const double eps = node.arg("eps").to_double();
  std::vector<float> factors, offsets;
  for (size_t c = 0; c < channels; ++c) {
    const double factor = (weight == nullptr ? 1 : weight[c]) / std::sqrt(var[c] + eps);
    factors.push_back(static_cast<float>(factor));
    offsets.push_back(static_cast<float>((bias == nullptr ? 0 : bias[c]) - mean[c] * factor));
  }
  const bool image = l.is_image(x);
  const Dims dims = channel_dims(x->type.sizes[1].as_int(), x->type.rank(), image);
  const Id in = image ? l.image(x) : l.plain(x);
  if (!l.for_executorch() && dims.size() == 1) {
    return l.set_like(y, image,
                      l.taper_node(NodeContent::BatchNorm,
                                   {in, l.constant(dims, factors), l.constant(dims, offsets)}));
  }
  const Id scaled = l.binary(NodeContent::Multiply, in, l.constant(dims, factors));
  l.set_like(y, image, l.binary(NodeContent::Add, scaled, l.constant(dims, offsets)));
}
std::string batch_norm_refusal(const Node& node) {
  const Value* x = tensor(node);
  if (x->type.rank() < 2 || !x->type.sizes[1].is_int()) return "the number of channels is dynamic";
  for (const char* name : {"weight", "bias", "running_mean", "running_var"}) {
    const exir::Argument& arg = node.arg(name);
    if (!arg.is_none() && !is_constant(arg.value())) return "its statistics are not constant";
  }
  return is_known(node.arg("eps")) ? "" : "eps is not constant";
}

// ---- group norm, which includes instance norm ----

// Turns the means of channels [n, 1, ..., c] into the means of their groups, one for each channel.
Id mean_of_groups(Lowering& l, Id means, int64_t groups) {
  const Dims dims = l.out().dims(means);
  const int64_t size = dims.back().as_int() / groups;
  const Id mean = l.mean(l.reshape(means, {dims[0] * groups, size}), {1});
  const std::vector<float> ones(static_cast<size_t>(size), 1);
  return l.reshape(l.binary(NodeContent::Multiply, mean, l.constant({1, size}, ones)), dims);
}

// The number of elements of a group if it is known and at most `most`; 0 otherwise.
int64_t group_size(const Value* x, int64_t groups, int64_t most) {
  int64_t count = 1;
  for (size_t d = 1; d < x->type.rank(); ++d) {
    if (!x->type.sizes[d].is_int() || x->type.sizes[d].as_int() > most) return 0;
    count *= x->type.sizes[d].as_int();
    if (count / groups > most) return 0;
  }
  return count / groups;
}

constexpr int64_t kLongestRow = 1 << 16;  // Means of longer rows are several products.

// In the plain layout a group is contiguous, so the norm is a layer norm of rows without weights,
// followed by weight and bias per channel.
void norm_of_rows(Lowering& l, const Node& node, int64_t groups, int64_t size) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const Id rows = l.reshape(l.plain(x), {x->type.sizes[0] * groups, size});
  const auto mean = [&](Id id) { return l.mean_of_last(id, 1); };
  Id out = l.reshape(normalized(l, rows, eps_of(node), mean), y->type.sizes);
  const Dims channels = channel_dims(x->type.sizes[1].as_int(), x->type.rank(), false);
  for (const auto& [name, kind] :
       {std::pair{"weight", NodeContent::Multiply}, std::pair{"bias", NodeContent::Add}}) {
    if (node.arg(name).is_none()) continue;
    out = l.binary(kind, out, l.reshape(l.plain(tensor(node, name)), channels));
  }
  l.set_plain(y, out);
}

void group_norm(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const int64_t groups = node.arg("group").to_int();
  if (may_be_node(l, node) && group_size(x, groups, INT32_MAX) > 0) {
    if (!l.is_image(x)) {
      return l.set_plain(y, norm_node(l, node, NodeContent::GroupNorm, l.plain(x), groups));
    }
    return l.set_image(y, norm_node(l, node, NodeContent::ImageGroupNorm, l.image(x), groups));
  }
  const int64_t in_row = group_size(x, groups, kLongestRow);
  if (!l.is_image(x) && in_row > 1) return norm_of_rows(l, node, groups, in_row);
  const bool mixes = node.arg("C").to_int() != groups;
  const Id image = l.image(x);
  const size_t rank = x->type.rank();
  std::vector<size_t> area = {1};  // All but the batch and the channels.
  while (area.size() < rank - 2) area.push_back(area.size() + 1);
  const Id out = normalized(l, image, eps_of(node), [&](Id id) {
    const Id mean = l.mean(id, area);
    return mixes ? mean_of_groups(l, mean, groups) : mean;
  });
  l.set_image(y, weighted(l, node, out));
}

std::string group_norm_refusal(const Node& node) {
  const Value* x = tensor(node);
  const size_t rank = x->type.rank();
  if (rank < 3 || rank > 5) return "the input is not a signal, an image or a volume";
  for (const char* name : {"C", "group", "eps"}) {
    if (!is_known(node.arg(name))) return "a number is not constant";
  }
  const bool has_rows = group_size(x, node.arg("group").to_int(), kLongestRow) > 1;
  return rank < 5 || has_rows ? ""
                              : "the groups of a volume are too large, or their size is dynamic";
}

constexpr OpRule kTable[] = {
    {"aten::_native_batch_norm_legit_no_training", batch_norm_refusal, batch_norm, 1, true},
    {"aten::native_group_norm", group_norm_refusal, group_norm, 2, true},
    {"aten::native_layer_norm", layer_norm_refusal, layer_norm, 2, true},
};

}  // namespace

const std::span<const OpRule> kNormRules{kTable};

}  // namespace taper::xnnpack
