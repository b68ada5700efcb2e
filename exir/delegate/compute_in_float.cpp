// Finds the groups of float16 nodes that the backend takes with float32 values, then widens them.

#include "exir/delegate/compute_in_float.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "exir/delegate/partition.h"
#include "exir/ir/rewrite.h"
#include "exir/ir/scales.h"
#include "kernels_portable/engine/half.h"

namespace taper::exir {
namespace {

constexpr std::string_view kCopy = "dim_order_ops::_to_dim_order_copy";

bool is_half(const Value* value) {
  return value->kind == ValueKind::kTensor && value->type.dtype == ScalarType::kHalf;
}

// While an object of this class lives, the float16 values of a node have the dtype float32.
class AsFloat {
 public:
  explicit AsFloat(const Node& node) {
    const auto widen = [&](Value* value) {
      if (!is_half(value)) return;
      before_.emplace_back(value, value->type.dtype);
      value->type.dtype = ScalarType::kFloat;
    };
    for_each_value(node, widen);
    for (Value* output : node.outputs) widen(output);
  }
  AsFloat(const AsFloat&) = delete;
  AsFloat& operator=(const AsFloat&) = delete;
  ~AsFloat() {
    for (const auto& [value, type] : before_) value->type.dtype = type;
  }
  bool changes() const { return !before_.empty(); }

 private:
  std::vector<std::pair<Value*, ScalarType>> before_;
};

// A copy converts because the program asks for it; a dtype argument is that of the result.
bool says_its_type(const Node& node) {
  if (node.is(kCopy)) return true;
  for (const Argument& arg : node.args) {
    if (arg.is<ScalarType>() && std::get<ScalarType>(arg.v) == ScalarType::kHalf) return true;
  }
  return false;
}

// PyTorch subtracts float16 zero points from integers, and multiplies them by float16 scales, in
// float16, whatever the dtype of the result.
bool rounds_steps(const Node& node) {
  if (!node.is("quantized_decomposed::dequantize_per_channel")) return false;
  const Argument& points = node.arg("zero_points");
  return is_half(node.arg("scales").value()) || (points.is_value() && is_half(points.value()));
}

// Backends of higher preference than this one.
using Preferred = std::span<const std::shared_ptr<const BackendCompiler>>;

bool is_taken(const BackendCompiler& backend, Preferred before, const Node& node,
              const Graph& graph) {
  if (says_its_type(node) || rounds_steps(node)) return false;
  for (const auto& other : before) {
    if (refusal_of(*other, node, graph).empty()) return false;
  }
  const AsFloat as_float(node);
  return as_float.changes() && refusal_of(backend, node, graph).empty();
}

// Groups of nodes that read each other's results, each identified by its first node.
class Groupings {
 public:
  explicit Groupings(size_t count) : first_(count) {
    std::iota(first_.begin(), first_.end(), size_t{0});
  }
  size_t of(size_t i) {
    while (first_[i] != i) i = first_[i] = first_[first_[i]];
    return i;
  }
  void join(size_t a, size_t b) { first_[of(a)] = of(b); }

 private:
  std::vector<size_t> first_;
};

// Which nodes compute as float32.
std::vector<bool> find_nodes(Graph& graph, const BackendCompiler& backend, Preferred before,
                             Groups groups) {
  std::vector<bool> taken(graph.nodes.size());
  Groupings groupings(taken.size());
  std::unordered_map<const Value*, size_t> makers;
  for (size_t i = 0; i < taken.size(); ++i) {
    Node& node = *graph.nodes[i];
    taken[i] = is_taken(backend, before, node, graph);
    if (!taken[i]) continue;
    for_each_value(node, [&](const Value* value) {
      const auto made = makers.find(value);
      if (made != makers.end()) groupings.join(i, made->second);
    });
    for (const Value* output : node.outputs) makers[output] = i;
  }
  if (groups == Groups::kAll) return taken;
  std::unordered_map<size_t, Part> parts;
  for (size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) continue;
    Part& part = parts[groupings.of(i)];
    part.graph = &graph;
    part.nodes.push_back(graph.nodes[i].get());
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    if (taken[i]) taken[i] = backend.pays(parts[groupings.of(i)]);
  }
  return taken;
}

std::vector<uint8_t> widened(const Value& constant) {
  const size_t count = constant.data.bytes / sizeof(uint16_t);
  std::vector<uint8_t> bytes(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, constant.data.data + i * sizeof(bits), sizeof(bits));
    const float number = portable::half_to_float(portable::Half{bits});
    std::memcpy(&bytes[i * sizeof(float)], &number, sizeof(number));
  }
  return bytes;
}

// Inserts copies where dtypes change. Nodes inside a group get new result values; the old ones
// become copies of them, emitted when a node outside reads one.
class Border {
 public:
  Border(Graph& graph, const std::vector<bool>& taken) {
    for (size_t i = 0; i < taken.size(); ++i) {
      if (!taken[i]) continue;
      Node& node = *graph.nodes[i];
      nodes_.insert(&node);
      for (Value*& output : node.outputs) {
        if (!is_half(output)) continue;
        TensorType type(ScalarType::kFloat, output->type.sizes);
        Value* made = graph.new_tensor(output->name, std::move(type));
        made->producer = &node;
        hold(*made, *output);
        inside_[output] = made;
        output = made;
      }
    }
  }

  bool visit(Node& node, Rewriter& rewriter) {
    const bool is_inside = nodes_.count(&node) != 0;
    if (node.is(kCopy) && node.outputs[0]->type.dtype == ScalarType::kFloat) {
      const auto made = inside_.find(node.arg(0).value());
      if (made != inside_.end()) {
        rewriter.replace(node.outputs[0], made->second);
        return true;
      }
    }
    for (Argument& arg : node.args) change(arg, is_inside, rewriter);
    return false;
  }

  // The outputs of the graph.
  void finish(Rewriter& rewriter) {
    Graph& graph = rewriter.graph();
    for (const Argument& output : graph.outputs) leave(rewriter.resolve(output), rewriter);
    for (const Mutation& mutation : graph.mutations) {
      leave(rewriter.resolve(Argument(mutation.source)), rewriter);
    }
  }

 private:
  void change(Argument& arg, bool is_inside, Rewriter& rewriter) {
    if (arg.is_list()) {
      for (Argument& item : arg.list()) change(item, is_inside, rewriter);
    } else if (arg.is_value() && is_half(arg.value())) {
      arg = is_inside ? wide(arg.value(), rewriter) : narrow(arg.value(), rewriter);
    }
  }
  void leave(Argument arg, Rewriter& rewriter) { change(arg, false, rewriter); }

  static Value* copy(Value* value, ScalarType to, Rewriter& rewriter) {
    Argument::List order;
    for (const uint8_t d : contiguous_order(value->type.rank())) order.push_back(int64_t{d});
    TensorType type(to, value->type.sizes);
    return rewriter.emit(kCopy, {value, to, Argument(), Argument(), Argument(), false, order},
                         {std::move(type)})[0];
  }

  Value* wide(Value* value, Rewriter& rewriter) {
    const auto made = inside_.find(value);
    if (made != inside_.end()) return made->second;
    Value*& wide = wide_[value];
    if (wide != nullptr) return wide;
    const Node* maker = value->producer;
    if (value->role == ValueRole::kConstant) {
      const TensorType type(ScalarType::kFloat, value->type.sizes);
      Graph& graph = rewriter.graph();
      wide = value->scales != nullptr
                 ? new_constant(graph, value->name + "_float", type, value->scales)
                 : graph.new_constant(value->name + "_float", type, own_bytes(widened(*value)));
      if (!value->fqn.empty()) wide->fqn = value->fqn + "." + wide->name;
    } else if (maker != nullptr && maker->is(kCopy) &&
               maker->arg(0).value()->type.dtype == ScalarType::kFloat) {
      wide = maker->arg(0).value();
    } else {
      wide = copy(value, ScalarType::kFloat, rewriter);
    }
    return wide;
  }

  Value* narrow(Value* value, Rewriter& rewriter) {
    const auto made = inside_.find(value);
    if (made == inside_.end()) return value;
    if (narrow_.count(value) != 0) return value;  // A copy that was inserted.
    Value* narrow = copy(made->second, value->type.dtype, rewriter);
    narrow_.insert(narrow);
    inside_[narrow] = made->second;
    rewriter.replace(value, narrow);
    return narrow;
  }

  std::unordered_set<const Node*> nodes_;
  std::unordered_map<Value*, Value*> inside_;  // float16 results to their float32 values inside.
  std::unordered_map<Value*, Value*> wide_;    // The same for values from outside.
  std::unordered_set<Value*> narrow_;          // Copies that were inserted for nodes outside.
};

}  // namespace

bool keeps_whole_in_float(const BackendCompiler& backend, const Node& node, const Graph& graph) {
  if (!backend.widens_half()) return false;
  const AsFloat as_float(node);
  return as_float.changes() && backend.keeps_whole(node, graph);
}

int compute_in_float(Graph& graph, const BackendCompilers& backends, Groups groups) {
  int count = 0;
  for (size_t i = 0; i < backends.size(); ++i) {
    if (!backends[i]->widens_half()) continue;
    const std::vector<bool> taken =
        find_nodes(graph, *backends[i], Preferred(backends).first(i), groups);
    const auto nodes = std::count(taken.begin(), taken.end(), true);
    if (nodes == 0) continue;
    Border border(graph, taken);
    rewrite(
        graph, [&](Node& node, Rewriter& rewriter) { return border.visit(node, rewriter); },
        [&](Rewriter& rewriter) { border.finish(rewriter); });
    erase_dead(graph);
    count += static_cast<int>(nodes);
  }
  return count;
}

}  // namespace taper::exir
