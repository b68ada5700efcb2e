// Marks tensors in rounds: layers with weights mark their inputs and outputs, then marks spread
// through nodes that move elements and join at additions, until nothing changes.

#include "exir/quantize/sites.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace taper::exir {
namespace {

const std::set<std::string_view> kConvolutions = {"aten::conv1d",
                                                  "aten::conv2d",
                                                  "aten::conv1d.padding",
                                                  "aten::conv2d.padding",
                                                  "aten::convolution",
                                                  "aten::conv_transpose1d",
                                                  "aten::conv_transpose2d.input"};

const std::set<std::string_view> kClamps = {"aten::relu", "aten::relu6", "aten::hardtanh",
                                            "aten::clamp"};

// Their results are elements of their first argument, or means of them.
const std::set<std::string_view> kMoves = {"aten::view",
                                           "aten::reshape",
                                           "aten::_unsafe_view",
                                           "aten::permute",
                                           "aten::transpose.int",
                                           "aten::t",
                                           "aten::squeeze",
                                           "aten::squeeze.dim",
                                           "aten::squeeze.dims",
                                           "aten::unsqueeze",
                                           "aten::slice.Tensor",
                                           "aten::select.int",
                                           "aten::contiguous",
                                           "aten::clone",
                                           "aten::dropout",
                                           "aten::max_pool2d",
                                           "aten::avg_pool2d",
                                           "aten::adaptive_avg_pool2d",
                                           "aten::mean.dim",
                                           "aten::expand",
                                           "aten::flatten.using_ints",
                                           "aten::alias",
                                           "aten::pixel_shuffle",
                                           "aten::unflatten.int",
                                           "aten::relu",
                                           "aten::relu6",
                                           "aten::hardtanh",
                                           "aten::chunk",
                                           "aten::split.Tensor",
                                           "aten::feature_dropout",
                                           "aten::repeat",
                                           "aten::upsample_nearest2d.vec"};

const std::set<std::string_view> kArithmetic = {"aten::add.Tensor", "aten::sub.Tensor",
                                                "aten::mul.Tensor"};

// Bounded functions, whose results are worth a byte where their input is one.
const std::set<std::string_view> kBounded = {"aten::sigmoid", "aten::hardsigmoid", "aten::tanh"};

const std::set<std::string_view> kVolumes = {"aten::conv3d", "aten::conv3d.padding",
                                             "aten::conv_transpose3d.input"};

const std::set<std::string_view> kRecurrent = {"aten::lstm.input", "aten::lstm.data",
                                               "aten::gru.input", "aten::gru.data"};

constexpr size_t kSmallConstant = 1024;  // Bytes; the text of two nodes takes as many.

bool is_float_tensor(const Value* value) {
  return value->kind == ValueKind::kTensor && value->type.dtype == ScalarType::kFloat &&
         !value->type.pairs;
}

Value* tensor_argument(const Node& node, std::string_view name) {
  const int at = node.schema->find(name);
  if (at < 0 || !node.args[static_cast<size_t>(at)].is_value()) return nullptr;
  Value* value = node.args[static_cast<size_t>(at)].value();
  return is_float_tensor(value) ? value : nullptr;
}

bool is_weight(const Value* value) {
  return value != nullptr && value->role == ValueRole::kConstant && is_float_tensor(value) &&
         value->type.rank() >= 2 && value->data.bytes != 0;
}

// The constant behind transposes of a matrix; `axis` follows.
Value* behind_transposes(Value* value, size_t* axis) {
  while (value != nullptr && value->producer != nullptr && value->type.rank() == 2) {
    const Node& node = *value->producer;
    const bool turns =
        node.is("aten::t") || node.is("aten::permute") || node.is("aten::transpose.int");
    if (!turns) return nullptr;
    if (node.is("aten::permute")) {
      const std::vector<int64_t> dims = to_ints(node.arg("dims"));
      if (dims.size() != 2 || dims[0] % 2 == 0) return nullptr;
    }
    *axis = 1 - *axis;
    value = node.args[0].value();
  }
  return value;
}

bool is_transposed(const Node& node) {
  return node.is("aten::convolution") ? node.arg("transposed").to_bool()
                                      : node.target().find("transpose") != std::string_view::npos;
}

// Whether the weights of a node are stored as integers although it computes with floats: layers
// with state, convolutions of volumes, and transposed ones whose groups have no output channels in
// one dimension.
bool only_stores(const Node& node) {
  if (kRecurrent.count(node.target()) != 0 || kVolumes.count(node.target()) != 0) return true;
  if (kConvolutions.count(node.target()) == 0) return false;
  if (node.outputs[0]->type.rank() == 5) return true;
  const Argument& groups = node.arg("groups");
  return is_transposed(node) && !(groups.is_int() && groups.to_int() == 1);
}

class Finder {
 public:
  Finder(const Graph& graph, const Enabled& enabled, Reach reach)
      : graph_(graph), enabled_(enabled), reach_(reach), uses_(uses_of(graph)) {}

  Sites run() {
    find_written();
    for (const auto& node : graph_.nodes) {
      for (const Argument& arg : node->args) {
        if (arg.is_value()) readers_[arg.value()].push_back(node.get());
      }
    }
    for (const auto& node : graph_.nodes) find_layer(*node);
    for (const auto& node : graph_.nodes) {
      if (only_stores(*node) || reach_ == Reach::kEveryWeight) find_stored(*node);
    }
    while (spread()) continue;
    collect();
    return std::move(out_);
  }

 private:
  // Tensors that are still written in place, and their views, keep their elements.
  void find_written() {
    for (const auto& node : graph_.nodes) {
      for (size_t i = 0; i < node->args.size(); ++i) {
        if (!node->schema->args[i].written()) continue;
        for_each_value(node->args[i], [&](const Value* value) { fixed_.insert(value); });
      }
    }
    const auto spread_views = [&](const Node& node) {
      if (!node.schema->returns_alias()) return;
      bool fixed = false;
      const auto look = [&](const Value* value) { fixed = fixed || fixed_.count(value) != 0; };
      for (const Value* output : node.outputs) look(output);
      for_each_value(node, look);
      if (!fixed) return;
      fixed_.insert(node.outputs.begin(), node.outputs.end());
      for_each_value(node, [&](const Value* value) { fixed_.insert(value); });
    };
    for (size_t i = graph_.nodes.size(); i-- > 0;) spread_views(*graph_.nodes[i]);
    for (const auto& node : graph_.nodes) spread_views(*node);
  }

  bool markable(const Value* value) const {
    return value != nullptr && is_float_tensor(value) && value->role != ValueRole::kConstant &&
           value->role != ValueRole::kState && fixed_.count(value) == 0;
  }

  // The value behind an activation that is the only reader of `value`.
  Value* behind_clamp(Value* value) {
    const auto readers = readers_.find(value);
    if (uses_[value] != 1 || readers == readers_.end()) return value;
    const Node& next = *readers->second[0];
    if (kClamps.count(next.target()) == 0 || next.args[0].value() != value) return value;
    if (next.is("aten::clamp") && (next.arg("min").is_value() || next.arg("max").is_value())) {
      return value;
    }
    return next.outputs[0];
  }

  void find_layer(Node& node) {
    if (node.outputs.size() != 1 || only_stores(node)) return;
    QuantLayer layer;
    layer.node = &node;
    layer.name = node.outputs[0]->name;
    if (kConvolutions.count(node.target()) != 0) {
      layer.kind = LayerKind::kConvolution;
      layer.input = tensor_argument(node, "input");
      layer.weight = tensor_argument(node, "weight");
      layer.bias = tensor_argument(node, "bias");
      if (is_transposed(node)) layer.axis = 1;  // Its output channels.
    } else if (node.is("aten::linear")) {
      layer.kind = LayerKind::kLinear;
      layer.input = tensor_argument(node, "input");
      layer.weight = tensor_argument(node, "weight");
      layer.bias = tensor_argument(node, "bias");
    } else if (node.is("aten::addmm") || node.is("aten::mm")) {
      layer.kind = LayerKind::kLinear;
      layer.axis = 1;
      layer.input = tensor_argument(node, node.is("aten::mm") ? "self" : "mat1");
      layer.weight = behind_transposes(tensor_argument(node, "mat2"), &layer.axis);
      if (node.is("aten::addmm")) layer.bias = tensor_argument(node, "self");
    } else if (node.is("aten::embedding")) {
      layer.kind = LayerKind::kEmbedding;
      layer.weight = tensor_argument(node, "weight");
    } else {
      return;
    }
    if (!is_weight(layer.weight) || fixed_.count(layer.weight) != 0) return;
    if (layer.bias != nullptr && layer.bias->role != ValueRole::kConstant) return;
    layer.output = node.outputs[0];
    if (layer.kind != LayerKind::kEmbedding) layer.output = behind_clamp(node.outputs[0]);
    if (layer.kind != LayerKind::kEmbedding && !(markable(layer.input) && markable(layer.output))) {
      return;
    }
    weights_.insert(layer.weight);
    if (enabled_ && !enabled_(layer)) return;
    out_.layers.push_back(layer);
    if (layer.kind == LayerKind::kEmbedding) return;
    mark(layer.input);
    mark(layer.output);
  }

  // The constants that a node reads and that are no layer's weight, each at its first reader.
  void find_stored(Node& node) {
    for_each_value(node, [&](Value* value) {
      const bool pays = is_weight(value) && value->data.bytes > kSmallConstant;
      if (!pays || fixed_.count(value) != 0 || !weights_.insert(value).second) return;
      QuantLayer layer;
      layer.name = value->name;
      layer.kind = LayerKind::kStored;
      layer.node = &node;
      layer.weight = value;
      if (!enabled_ || enabled_(layer)) out_.layers.push_back(layer);
    });
  }

  bool mark(Value* value) {
    if (!marked_.emplace(value, marked_.size()).second) return false;
    order_.push_back(value);
    parent_.push_back(parent_.size());
    return true;
  }
  bool is_marked(const Value* value) const { return marked_.count(value) != 0; }

  size_t root(size_t i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  void join(const Value* a, const Value* b) {
    const size_t first = root(marked_.at(a)), second = root(marked_.at(b));
    parent_[std::max(first, second)] = std::min(first, second);
  }

  // Whether all results can be quantised.
  bool markable_results(const Node& node) const {
    return !node.outputs.empty() &&
           std::all_of(node.outputs.begin(), node.outputs.end(),
                       [&](const Value* value) { return markable(value); });
  }

  bool spread() {
    bool changed = false;
    for (const auto& node : graph_.nodes) {
      if (!markable_results(*node)) continue;
      if (kMoves.count(node->target()) != 0) {
        changed = spread_move(*node, {node->args[0].value()}) || changed;
      } else if (node->is("aten::cat") && node->args[0].is_list()) {
        std::vector<Value*> inputs;
        for (const Argument& item : node->args[0].list()) inputs.push_back(item.value());
        changed = spread_move(*node, inputs) || changed;
      } else if (kBounded.count(node->target()) != 0 && is_marked(node->args[0].value())) {
        changed = mark(node->outputs[0]) || changed;
      } else if (kArithmetic.count(node->target()) != 0) {
        changed = spread_arithmetic(*node) || changed;
      }
    }
    return changed;
  }

  bool spread_move(const Node& node, const std::vector<Value*>& inputs) {
    if (!std::all_of(inputs.begin(), inputs.end(), [&](Value* v) { return is_marked(v); })) {
      return false;
    }
    // A clamp that belongs to the layer before it.
    bool changed = false;
    for (Value* output : node.outputs) {
      changed = mark(output) || changed;
      join(inputs[0], output);
    }
    for (const Value* input : inputs) join(inputs[0], input);
    return changed;
  }

  bool spread_arithmetic(Node& node) {
    const Argument &a = node.args[0], &b = node.args[1];
    if (!a.is_value() || !b.is_value() || arithmetic_.count(&node) != 0) return false;
    if (!is_marked(a.value()) || !is_marked(b.value())) return false;
    if (const int alpha = node.schema->find("alpha"); alpha >= 0) {
      const Argument& factor = node.args[static_cast<size_t>(alpha)];
      if (factor.is_value() || factor.to_double() != 1) return false;
    }
    arithmetic_.insert(&node);
    QuantLayer layer;
    layer.node = &node;
    layer.name = node.outputs[0]->name;
    layer.output = behind_clamp(node.outputs[0]);
    if (!markable(layer.output) || (enabled_ && !enabled_(layer))) return false;
    out_.layers.push_back(layer);
    mark(layer.output);
    return true;
  }

  void collect() {
    std::map<size_t, size_t> groups;
    for (size_t i = 0; i < order_.size(); ++i) {
      const auto [at, is_new] = groups.emplace(root(i), out_.groups.size());
      if (is_new) out_.groups.emplace_back();
      out_.groups[at->second].push_back(order_[i]);
      out_.group_of[order_[i]->name] = at->second;
    }
    std::map<const Node*, size_t> place;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) place[graph_.nodes[i].get()] = i;
    std::stable_sort(
        out_.layers.begin(), out_.layers.end(),
        [&](const QuantLayer& a, const QuantLayer& b) { return place[a.node] < place[b.node]; });
  }

  const Graph& graph_;
  const Enabled& enabled_;
  const Reach reach_;
  std::map<const Value*, int> uses_;
  std::map<const Value*, std::vector<Node*>> readers_;
  std::set<const Value*> fixed_;
  std::set<const Node*> arithmetic_;
  std::set<const Value*> weights_;  // Of layers, also of those that stay in float.
  std::map<const Value*, size_t> marked_;
  std::vector<Value*> order_;
  std::vector<size_t> parent_;  // Union-find over marked values.
  Sites out_;
};

}  // namespace

std::map<const Value*, int> uses_of(const Graph& graph) {
  std::map<const Value*, int> uses;
  const auto use = [&](const Value* value) { ++uses[value]; };
  for (const auto& node : graph.nodes) for_each_value(*node, use);
  for (const Argument& output : graph.outputs) for_each_value(output, use);
  for (const Mutation& mutation : graph.mutations) use(mutation.source);
  return uses;
}

Sites find_sites(const Graph& graph, const Enabled& enabled, Reach reach) {
  return Finder(graph, enabled, reach).run();
}

}  // namespace taper::exir
