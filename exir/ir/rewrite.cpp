#include "exir/ir/rewrite.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <unordered_set>
#include <variant>

#include "exir/ir/registry.h"

namespace taper::exir {
namespace {

// "aten::add.Tensor" -> "add", the name of its results.
std::string_view short_name(std::string_view target) {
  if (const size_t colon = target.rfind("::"); colon != target.npos)
    target.remove_prefix(colon + 2);
  return target.substr(0, target.find('.'));
}

void fill_defaults(const Schema& schema, std::vector<Argument>& args) {
  if (args.size() > schema.args.size()) {
    throw Failure(schema.name + " is called with " + std::to_string(args.size()) + " arguments");
  }
  for (size_t i = args.size(); i < schema.args.size(); ++i) {
    const SchemaArg& arg = schema.args[i];
    if (!arg.has_default && !arg.type.optional) {
      throw Failure(schema.name + " is called without its argument \"" + arg.name + "\"");
    }
    args.push_back(default_argument(arg));
  }
}

[[noreturn]] void refuse_contradiction(const Node& node) {
  const Diagnostic out = diagnose(
      node, "bad-node", "its arguments or results are not as the program states them elsewhere");
  throw Failure(out.message, {out});
}

}  // namespace

std::vector<Value*> Rewriter::emit(std::string_view target, const std::vector<Argument>& args,
                                   std::vector<TensorType> types) {
  Node* node = emit_node(target, args);
  for (TensorType& type : types) {
    Value* value = graph_.new_tensor(short_name(target), std::move(type));
    value->producer = node;
    node->outputs.push_back(value);
  }
  if (node->name.empty() && !node->outputs.empty()) node->name = node->outputs[0]->name;
  return node->outputs;
}

Node* Rewriter::emit_node(std::string_view target, const std::vector<Argument>& args) {
  return emit_node(graph_.operators()->need(target), args);
}

Node* Rewriter::emit_node(std::shared_ptr<const Schema> schema, const std::vector<Argument>& args) {
  auto node = std::make_unique<Node>();
  node->schema = std::move(schema);
  for (const Argument& arg : args) node->args.push_back(resolve(arg));
  fill_defaults(*node->schema, node->args);
  if (current_ != nullptr) {
    node->name = current_->name;
    node->source = current_->source;
  }
  out_.push_back(std::move(node));
  return out_.back().get();
}

void hold(Value& value, const Value& replaced) {
  for (const std::string& name : replaced.holds) {
    if (std::find(value.holds.begin(), value.holds.end(), name) == value.holds.end()) {
      value.holds.push_back(name);
    }
  }
}

void Rewriter::replace(Value* old_value, Value* new_value) {
  replace(old_value, Argument(new_value));
}

void Rewriter::replace(Value* old_value, Argument new_argument) {
  new_argument = resolve(new_argument);
  if (new_argument.is_value()) {
    if (new_argument.value() == old_value) return;
    hold(*new_argument.value(), *old_value);
  }
  replaced_[old_value] = std::move(new_argument);
}

Argument Rewriter::resolve(const Argument& arg) const {
  if (arg.is_value()) {
    const Argument* out = &arg;
    // A replacement may itself be replaced later; chains are short and have no cycles, since a
    // value is only replaced by one that is defined before it.
    while (out->is_value()) {
      const auto found = replaced_.find(out->value());
      if (found == replaced_.end()) break;
      out = &found->second;
    }
    return *out;
  }
  if (!arg.is_list()) return arg;
  Argument::List items;
  for (const Argument& item : arg.list()) items.push_back(resolve(item));
  return items;
}

// A depth-first walk, which leaves a node when all that it reads has been placed. Of several
// operands the one with more intermediate results comes first, so that few of them exist at a time
// (Sethi and Ullman, "The Generation of Optimal Code for Arithmetic Expressions", 1970).
void Rewriter::order_by_use(const Argument::List& roots) {
  const auto begin = out_.begin() + static_cast<ptrdiff_t>(first_);
  const bool pure = std::all_of(begin, out_.end(), [](const std::unique_ptr<Node>& node) {
    return !node->schema->mutates() && !node->outputs.empty();
  });
  if (!pure || out_.size() - first_ < 2) return;  // Reads and writes keep their order.
  std::vector<std::unique_ptr<Node>> emitted(std::make_move_iterator(begin),
                                             std::make_move_iterator(out_.end()));
  out_.resize(first_);

  struct Waiting {
    std::unique_ptr<Node>* node;
    size_t results = 1;  // How many intermediate results exist at a time.
  };
  std::unordered_map<const Node*, Waiting> waiting;
  // What has to be placed before the reader, the operand with most results first.
  const auto operands_of = [&](const auto& reader) {
    std::vector<const Node*> operands;
    std::unordered_set<const Node*> seen;
    for_each_value(reader, [&](const Value* value) {
      const Node* node = value->producer;
      if (waiting.count(node) != 0 && seen.insert(node).second) operands.push_back(node);
    });
    std::stable_sort(operands.begin(), operands.end(), [&](const Node* a, const Node* b) {
      return waiting.at(a).results > waiting.at(b).results;
    });
    return operands;
  };
  for (std::unique_ptr<Node>& node : emitted) {
    Waiting entry = {&node};
    size_t kept = 0;
    for (const Node* operand : operands_of(*node)) {
      entry.results = std::max(entry.results, waiting.at(operand).results + kept++);
    }
    waiting.emplace(node.get(), entry);
  }

  std::vector<std::pair<const Node*, bool>> path;  // With true, when its operands are placed.
  // Puts nodes on the path so that the first of them is the next.
  const auto enter = [&](const std::vector<const Node*>& nodes) {
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) path.emplace_back(*node, false);
  };
  const auto place = [&](const std::vector<const Node*>& nodes) {
    enter(nodes);
    while (!path.empty()) {
      const auto [node, is_ready] = path.back();
      path.pop_back();
      const auto found = waiting.find(node);
      if (found == waiting.end()) continue;
      if (is_ready) {
        out_.push_back(std::move(*found->second.node));
        waiting.erase(found);
        continue;
      }
      path.emplace_back(node, true);
      enter(operands_of(*node));
    }
  };
  for (const Argument& root : roots) place(operands_of(resolve(root)));
  for (std::unique_ptr<Node>& node : emitted) place({node.get()});  // What only later nodes read.
}

int rewrite(Graph& graph, const std::function<bool(Node&, Rewriter&)>& visit,
            const std::function<void(Rewriter&)>& at_end) {
  Rewriter rewriter(graph);
  std::vector<std::unique_ptr<Node>> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  std::vector<std::unique_ptr<Node>> dropped;  // Kept until the end: `visit` may hold pointers.
  for (std::unique_ptr<Node>& node : nodes) {
    for (Argument& arg : node->args) {
      if (arg.is_value() || arg.is_list()) arg = rewriter.resolve(arg);
    }
    rewriter.current_ = node.get();
    rewriter.first_ = rewriter.out_.size();
    bool replaced = false;
    try {
      replaced = visit(*node, rewriter);
    } catch (const std::out_of_range&) {
      refuse_contradiction(*node);
    } catch (const std::bad_variant_access&) {
      refuse_contradiction(*node);
    }
    if (replaced) {
      dropped.push_back(std::move(node));
    } else {
      rewriter.out_.push_back(std::move(node));
    }
  }
  rewriter.current_ = nullptr;
  if (at_end) at_end(rewriter);
  graph.nodes = std::move(rewriter.out_);
  for (Argument& output : graph.outputs) output = rewriter.resolve(output);
  for (Mutation& mutation : graph.mutations) {
    mutation.source = rewriter.resolve(Argument(mutation.source)).value();
  }
  return static_cast<int>(dropped.size());
}

namespace {

void collect_graphs(Graph& graph, std::vector<Graph*>& out);

void collect_graphs(const Argument& arg, std::vector<Graph*>& out) {
  if (const auto* nested = std::get_if<std::shared_ptr<Graph>>(&arg.v)) {
    if (*nested) collect_graphs(**nested, out);
  } else if (arg.is_list()) {
    for (const Argument& item : arg.list()) collect_graphs(item, out);
  }
}

void collect_graphs(Graph& graph, std::vector<Graph*>& out) {
  for (const auto& node : graph.nodes) {
    for (const Argument& arg : node->args) collect_graphs(arg, out);
  }
  out.push_back(&graph);
}

}  // namespace

std::vector<Graph*> all_graphs(Graph& graph) {
  std::vector<Graph*> out;
  collect_graphs(graph, out);
  return out;
}

std::unordered_map<const Value*, int> count_uses(const Graph& graph) {
  std::unordered_map<const Value*, int> uses;
  const auto use = [&](const Value* value) { ++uses[value]; };
  for (const auto& node : graph.nodes) for_each_value(*node, use);
  for (const Argument& output : graph.outputs) for_each_value(output, use);
  for (const Mutation& mutation : graph.mutations) use(mutation.source);
  return uses;
}

int erase_dead(Graph& graph) {
  std::unordered_set<const Value*> used;
  const auto use = [&](Value* value) { used.insert(value); };
  for (const Argument& output : graph.outputs) for_each_value(output, use);
  for (const Mutation& mutation : graph.mutations) used.insert(mutation.source);

  std::vector<bool> keep(graph.nodes.size());
  size_t kept = 0;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = *graph.nodes[i];
    bool needed = node.schema->mutates() || node.outputs.empty();
    for (const Value* output : node.outputs) needed = needed || used.count(output) != 0;
    keep[i] = needed;
    kept += needed;
    if (needed) for_each_value(node, use);
  }
  const int removed = static_cast<int>(graph.nodes.size() - kept);
  std::vector<std::unique_ptr<Node>> nodes;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) nodes.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(nodes);
  std::erase_if(graph.constants, [&](const Value* value) {
    return value->role == ValueRole::kConstant && used.count(value) == 0;
  });
  return removed;
}

}  // namespace taper::exir
