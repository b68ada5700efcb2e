// Computes levels and parts, asks the backend about each part, and repeats until no part is given
// up; then replaces each part by a call.

#include "exir/delegate/partition.h"
#include "exir/ir/registry.h"
#include "exir/ir/scales.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace taper::exir {
namespace {

const std::shared_ptr<const Schema>& call_schema() {
  static const auto schema = std::make_shared<const Schema>(
      parse_schema("delegate::call(int index, Tensor[] inputs) -> Tensor[]"));
  return schema;
}

bool is_call(const Node& node) { return node.is("delegate::call"); }

// Calls `visit` for every value that a node needs, bodies of control flow included.
void for_each_needed(const Argument& arg, const std::function<void(const Value*)>& visit) {
  if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&arg.v)) {
    if (*body == nullptr) return;
    for (const auto& node : (*body)->nodes) {
      for (const Argument& inner : node->args) for_each_needed(inner, visit);
    }
    for (const Argument& output : (*body)->outputs) for_each_needed(output, visit);
  } else if (arg.is_list()) {
    for (const Argument& item : arg.list()) for_each_needed(item, visit);
  } else if (arg.is_value()) {
    visit(arg.value());
  }
}

struct Entry {
  std::string why;   // Why the backend does not take the node; empty if it does.
  size_t level = 0;  // For a node outside: how many groups it comes after.
};

// Partitions a graph for one backend.
class Partitioner {
 public:
  Partitioner(Graph& graph, const BackendCompiler& backend, const PartitionOptions& options)
      : graph_(graph), backend_(backend), options_(options) {}

  // Adds why the backend did not take the nodes that it left; `names_it` if there are other
  // backends.
  int run(Delegation& report, bool names_it) {
    for (const auto& node : graph_.nodes) {
      entries_.push_back(
          {is_call(*node) ? "another backend runs it" : refusal_of(backend_, *node, graph_), 0});
    }
    while (find_levels(), give_up_what_does_not_pay()) {
    }
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (taken(i) || is_call(*graph_.nodes[i])) continue;
      std::string& text = report.outside[graph_.nodes[i].get()];
      if (!text.empty()) text += "; ";
      if (names_it) text += std::string(backend_.name()) + ": ";
      text += entries_[i].why;
    }
    return rebuild(report);
  }

 private:
  bool taken(size_t i) const { return entries_[i].why.empty(); }

  // Calls whose order among themselves must stay.
  bool keeps_its_turn(const Node& node) const {
    return graph_.operators()->tags(node.target()).random || node.schema->mutates() ||
           node.outputs.empty();
  }

  void find_levels() {
    std::unordered_map<const Value*, size_t> maker;
    size_t turn = 0;
    levels_ = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Node& node = *graph_.nodes[i];
      size_t level = 0;
      const auto look = [&](const Value* value) {
        const auto found = maker.find(value);
        if (found == maker.end()) return;
        const bool comes_out = taken(found->second) && !taken(i);
        level = std::max(level, entries_[found->second].level + (comes_out ? 1 : 0));
      };
      for (const Argument& arg : node.args) {
        // A delegate recomputes sizes itself.
        if (!taken(i)) {
          for_each_needed(arg, look);
        } else {
          for_each_value(arg, [&](const Value* value) {
            if (value->kind == ValueKind::kTensor) look(value);
          });
        }
      }
      if (!taken(i) && keeps_its_turn(node)) turn = level = std::max(level, turn);
      entries_[i].level = level;
      levels_ = std::max(levels_, level + 1);
      for (const Value* output : node.outputs) maker[output] = i;
    }
  }

  // The mutations of states that the taken nodes of one level alone read and write, by the state.
  std::unordered_map<const Value*, std::pair<Mutation, size_t>> find_states() const {
    std::unordered_map<const Value*, std::pair<Mutation, size_t>> states;
    if (!backend_.keeps_states() || options_.for_executorch) return states;
    std::unordered_map<const Value*, size_t> level_of;
    for (size_t i = 0; i < entries_.size(); ++i) {
      for (const Value* output : graph_.nodes[i]->outputs) {
        if (taken(i)) level_of[output] = entries_[i].level;
      }
    }
    for (const Mutation& mutation : graph_.mutations) {
      const auto made = level_of.find(mutation.source);
      if (mutation.target->role == ValueRole::kState && made != level_of.end()) {
        states[mutation.target] = {mutation, made->second};
      }
    }
    for (size_t i = 0; i < entries_.size(); ++i) {
      const auto look = [&](const Value* value) {
        const auto found = states.find(value);
        if (found == states.end()) return;
        if (!taken(i) || entries_[i].level != found->second.second) states.erase(found);
      };
      for (const Argument& arg : graph_.nodes[i]->args) for_each_needed(arg, look);
    }
    for (const Argument& output : graph_.outputs) {
      for_each_value(output, [&](const Value* value) { states.erase(value); });
    }
    for (const Mutation& mutation : graph_.mutations) states.erase(mutation.source);
    return states;
  }

  std::vector<Part> parts() const {
    std::vector<Part> parts(levels_);
    const auto states = find_states();
    std::unordered_map<const Value*, size_t> inside;  // Produced by the part of that level.
    std::unordered_set<const Value*> read_outside;
    const auto note = [&](const Value* value) { read_outside.insert(value); };
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Node& node = *graph_.nodes[i];
      if (!taken(i)) {
        for (const Argument& arg : node.args) for_each_needed(arg, note);
        continue;
      }
      const size_t level = entries_[i].level;
      parts[level].graph = &graph_;
      parts[level].nodes.push_back(&node);
      for (const Value* output : node.outputs) inside[output] = level;
      for_each_value(node, [&](Value* value) {
        if (value->kind != ValueKind::kTensor || value->role == ValueRole::kConstant) return;
        if (states.count(value) != 0) return;
        const auto made = inside.find(value);
        if (made != inside.end() && made->second == level) return;
        if (made != inside.end()) note(value);
        std::vector<Value*>& inputs = parts[level].inputs;
        if (std::find(inputs.begin(), inputs.end(), value) == inputs.end()) inputs.push_back(value);
      });
    }
    for (const Argument& output : graph_.outputs) for_each_value(output, note);
    for (const Mutation& mutation : graph_.mutations) {
      const auto kept = states.find(mutation.target);
      if (kept == states.end()) {
        note(mutation.source);
      } else {
        parts[kept->second.second].states.push_back(mutation);
      }
    }
    for (Part& part : parts) {
      part.for_executorch = options_.for_executorch;
      for (const Node* node : part.nodes) {
        for (Value* output : node->outputs) {
          if (read_outside.count(output) != 0) part.outputs.push_back(output);
        }
      }
    }
    return parts;
  }

  bool is_wanted(const Part& part) const {
    return options_.groups == Groups::kAll || backend_.pays(part);
  }

  // True if the levels must be computed again.
  bool give_up_what_does_not_pay() {
    parts_ = parts();
    if (give_up_misfits()) return true;
    bool changed = false;
    for (const Part& part : parts_) {
      const bool has_result = !part.outputs.empty() || !part.states.empty();
      if (part.nodes.empty() || (has_result && is_wanted(part))) continue;
      const std::unordered_set<const Node*> members(part.nodes.begin(), part.nodes.end());
      for (size_t i = 0; i < entries_.size(); ++i) {
        if (members.count(graph_.nodes[i].get()) != 0) {
          entries_[i].why = "alone among others it would cost more than it saves";
        }
      }
      changed = true;
    }
    return changed;
  }

  bool give_up_misfits() {
    std::unordered_map<const Node*, std::string> misfits;
    for (const Part& part : parts_) {
      if (part.nodes.empty() || (part.outputs.empty() && part.states.empty())) continue;
      for (Misfit& misfit : backend_.misfits(part)) {
        misfits.emplace(misfit.node, std::move(misfit.why));
      }
    }
    for (size_t i = 0; i < entries_.size(); ++i) {
      const auto found = misfits.find(graph_.nodes[i].get());
      if (found != misfits.end()) entries_[i].why = found->second;
    }
    return !misfits.empty();
  }

  // Constants keep their integers beside the elements, for kernels.
  static void spell_elements(const Part& part) {
    for (const Node* node : part.nodes) {
      for_each_value(*node, [](Value* value) {
        if (value->scales != nullptr) value->data = elements_of(*value);
      });
    }
  }

  std::shared_ptr<const Delegate> delegate_of(const Part& part) const {
    if (!backend_.takes_integers()) spell_elements(part);
    const std::shared_ptr<Delegate> delegate = backend_.compile(part);
    delegate->id = backend_.delegate_id();
    for (const Node* node : part.nodes) {
      Delegate::Part made = {node->name, std::string(node->target()), node->source};
      if (!node->outputs.empty()) {
        made.value = node->outputs[0]->name;
        made.type = description_of(node->outputs[0]->type);
      }
      delegate->parts.push_back(std::move(made));
    }
    return delegate;
  }

  // The nodes of the part are not outside any more.
  void note_call(const Part& part, Delegation& report) const {
    Delegation::Call& call = report.calls.emplace_back();
    call.backend = backend_.name();
    for (const Node* node : part.nodes) {
      call.nodes.push_back({node->name, std::string(node->target()), {}, {}});
      const auto refused = report.outside.find(node);
      if (refused == report.outside.end()) continue;
      call.nodes.back().refusals = std::move(refused->second);
      report.outside.erase(refused);
    }
  }

  std::unique_ptr<Node> call_of(const Part& part) {
    auto call = std::make_unique<Node>();
    call->schema = call_schema();
    call->name = "delegate_" + std::to_string(graph_.delegates.size());
    call->source = part.nodes[0]->source;
    Argument::List inputs(part.inputs.begin(), part.inputs.end());
    call->args = {static_cast<int64_t>(graph_.delegates.size()), std::move(inputs)};
    call->outputs = part.outputs;
    graph_.delegates.push_back(delegate_of(part));
    for (Value* output : part.outputs) output->producer = call.get();
    for (const Mutation& state : part.states) forget_state(state.target);
    return call;
  }

  // The delegate keeps it.
  void forget_state(const Value* state) {
    std::erase(graph_.constants, state);
    std::erase_if(graph_.mutations, [&](const Mutation& each) { return each.target == state; });
  }

  // Level by level: first the nodes outside, then the group.
  int rebuild(Delegation& report) {
    int count = 0;
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<std::unique_ptr<Node>> old = std::move(graph_.nodes);
    for (size_t level = 0; level < levels_; ++level) {
      for (size_t i = 0; i < old.size(); ++i) {
        if (old[i] != nullptr && !taken(i) && entries_[i].level == level) {
          nodes.push_back(std::move(old[i]));
        }
      }
      if (parts_[level].nodes.empty()) continue;
      count += static_cast<int>(parts_[level].nodes.size());
      note_call(parts_[level], report);
      nodes.push_back(call_of(parts_[level]));
      const std::vector<std::string>& texts = graph_.delegates.back()->computed_in;
      for (size_t i = 0; i < texts.size(); ++i) report.calls.back().nodes[i].computed_in = texts[i];
    }
    graph_.nodes = std::move(nodes);
    return count;
  }

  Graph& graph_;
  const BackendCompiler& backend_;
  const PartitionOptions options_;
  std::vector<Entry> entries_;
  std::vector<Part> parts_;
  size_t levels_ = 0;
};

}  // namespace

std::string refusal_of(const BackendCompiler& backend, const Node& node, const Graph& graph) {
  try {
    return backend.refusal(node, graph);
  } catch (const Failure& failure) {
    return failure.what();
  }
}

int partition(Graph& graph, const BackendCompilers& backends, const PartitionOptions& options,
              Delegation* report) {
  Delegation unread;
  Delegation& all = report == nullptr ? unread : *report;
  int count = 0;
  for (const auto& backend : backends) {
    count += Partitioner(graph, *backend, options).run(all, backends.size() > 1);
  }
  return count;
}

}  // namespace taper::exir
