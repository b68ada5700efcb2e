#include "exir/delegate/compute_in_float.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "exir/ir/rewrite.h"
#include "kernels_portable/half.h"

namespace taper::exir {
namespace {

constexpr std::string_view kCopy = "dim_order_ops::_to_dim_order_copy";

bool is_half(const Value* value) {
  return value->kind == ValueKind::kTensor && value->type.dtype == ScalarType::kHalf;
}

// While it lives, the float16 values of a node are float32.
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

// A copy changes the type because the program says so; a type as an argument is the result's.
bool says_its_type(const Node& node) {
  if (node.is(kCopy)) return true;
  for (const Argument& arg : node.args) {
    if (arg.is<ScalarType>() && std::get<ScalarType>(arg.v) == ScalarType::kHalf) return true;
  }
  return false;
}

bool is_taken(const BackendCompiler& backend, const Node& node, const Graph& graph) {
  if (says_its_type(node)) return false;
  const AsFloat as_float(node);
  return as_float.changes() && backend.refusal(node, graph).empty();
}

// Groups of nodes that read each other's results, by the first of each.
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
std::vector<bool> find_nodes(Graph& graph, const BackendCompiler& backend, Groups groups) {
  std::vector<bool> taken(graph.nodes.size());
  Groupings groupings(taken.size());
  std::unordered_map<const Value*, size_t> makers;
  for (size_t i = 0; i < taken.size(); ++i) {
    Node& node = *graph.nodes[i];
    taken[i] = is_taken(backend, node, graph);
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

// Puts copies where types change. Results of nodes inside are new values; those of before are
// copies of them, made when somebody outside reads one.
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

  // What comes out of the graph.
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
      wide = rewriter.graph().new_constant(value->name + "_float",
                                           TensorType(ScalarType::kFloat, value->type.sizes),
                                           own_bytes(widened(*value)));
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
    if (narrow_.count(value) != 0) return value;  // Such a copy.
    Value* narrow = copy(made->second, value->type.dtype, rewriter);
    narrow_.insert(narrow);
    inside_[narrow] = made->second;
    rewriter.replace(value, narrow);
    return narrow;
  }

  std::unordered_set<const Node*> nodes_;
  std::unordered_map<Value*, Value*> inside_;  // What is float16, and what it is inside.
  std::unordered_map<Value*, Value*> wide_;    // The same of what comes from outside.
  std::unordered_set<Value*> narrow_;          // Copies that were made for those outside.
};

}  // namespace

bool keeps_whole_in_float(const BackendCompiler& backend, const Node& node, const Graph& graph) {
  const AsFloat as_float(node);
  return as_float.changes() && backend.keeps_whole(node, graph);
}

int compute_in_float(Graph& graph, const BackendCompiler& backend, Groups groups) {
  const std::vector<bool> taken = find_nodes(graph, backend, groups);
  const auto count = std::count(taken.begin(), taken.end(), true);
  if (count == 0) return 0;
  Border border(graph, taken);
  rewrite(
      graph, [&](Node& node, Rewriter& rewriter) { return border.visit(node, rewriter); },
      [&](Rewriter& rewriter) { border.finish(rewriter); });
  erase_dead(graph);
  return static_cast<int>(count);
}

}  // namespace taper::exir
