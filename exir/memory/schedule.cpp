// Walks the graph and its subgraphs in execution order. The inputs of a subgraph are replaced by
// the operands of its call; jumps whose target is not known yet are patched later.

#include "exir/memory/schedule.h"
#include "exir/ops/builtin.h"

#include <unordered_map>

namespace taper::exir {
namespace {

using Bindings = std::unordered_map<const Value*, Argument>;

Argument substitute(const Argument& arg, const Bindings& bindings) {
  if (arg.is_value()) {
    const auto found = bindings.find(arg.value());
    return found == bindings.end() ? arg : found->second;
  }
  if (!arg.is_list()) return arg;
  Argument::List items;
  for (const Argument& item : arg.list()) items.push_back(substitute(item, bindings));
  return items;
}

class Scheduler {
 public:
  explicit Scheduler(Graph& root) : root_(root) {}

  Schedule run() {
    add_graph(root_);
    return std::move(out_);
  }

 private:
  void add_graph(Graph& graph) {
    for (const auto& node : graph.nodes) {
      if (node->is("higher_order::cond"))
        add_cond(*node);
      else if (node->is("higher_order::while_loop"))
        add_while(*node);
      else if (node->is("higher_order::scan"))
        add_scan(*node);
      else if (node->is("higher_order::map_impl"))
        add_map(*node);
      else if (node->target().substr(0, 14) == "higher_order::")
        refuse(*node);
      else
        add_call(node.get());
    }
  }

  [[noreturn]] static void refuse(const Node& node) {
    throw Failure("control flow that is not supported",
                  {{"unsupported-op", std::string(node.target()), node.name,
                    node.source ? node.source->newest_frame() : "",
                    "call run_decompositions() on the exported program before saving it"}});
  }

  static Graph& graph_of(const Argument& arg) {
    const auto* graph = std::get_if<std::shared_ptr<Graph>>(&arg.v);
    if (graph == nullptr || !*graph) throw Failure("control flow without a subgraph");
    return **graph;
  }

  // Replaces the inputs of a subgraph by the operands that the caller passes, also where nested
  // subgraphs are called with them.
  static void bind_inputs(Graph& graph, const Argument::List& operands) {
    if (operands.size() != graph.inputs.size()) {
      throw Failure("a subgraph takes " + std::to_string(graph.inputs.size()) + " operands, not " +
                    std::to_string(operands.size()));
    }
    Bindings bindings;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (graph.inputs[i].is_value()) bindings[graph.inputs[i].value()] = operands[i];
    }
    for (const auto& node : graph.nodes) {
      for (Argument& arg : node->args) arg = substitute(arg, bindings);
    }
    for (Argument& output : graph.outputs) output = substitute(output, bindings);
  }

  void add_call(const Node* node) {
    Step step;
    step.node = node;
    out_.steps.push_back(std::move(step));
  }

  // Appends a call that writes `results`; the schedule owns its node.
  void call(std::string_view target, std::vector<Argument> args, std::vector<Value*> results) {
    auto node = std::make_unique<Node>();
    node->schema = builtin_operators()->need(target);
    node->args = std::move(args);
    node->outputs = std::move(results);
    node->name = std::string(target);
    add_call(node.get());
    out_.made.push_back(std::move(node));
  }

  void move(Argument from, Value* to) {
    Step step;
    step.kind = StepKind::kMove;
    step.from = std::move(from);
    step.to = to;
    out_.steps.push_back(std::move(step));
  }

  size_t jump(Argument condition, size_t target = 0) {
    Step step;
    step.kind = StepKind::kJumpFalse;
    step.from = std::move(condition);
    step.target = target;
    out_.steps.push_back(std::move(step));
    return out_.steps.size() - 1;
  }

  size_t here() const { return out_.steps.size(); }

  void copy(const Argument& from, Value* to) {
    if (to->kind != ValueKind::kTensor) return move(from, to);
    call("aten::clone.out", {from, Argument()}, {to});
  }

  void copy_all(const std::vector<Argument>& from, const std::vector<Value*>& to) {
    if (from.size() != to.size()) throw Failure("a subgraph returns the wrong number of values");
    for (size_t i = 0; i < to.size(); ++i) copy(from[i], to[i]);
  }

  // Copies the new values of loop-carried variables. A new value that is the old one of another
  // variable goes through a temporary, since the copies run one after another.
  void carry(std::vector<Argument> from, const std::vector<Value*>& to) {
    for (size_t i = 0; i < from.size() && i < to.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!from[i].is_value() || from[i].value() != to[j] || to[i] == to[j]) continue;
        Value* temp = root_.new_value(to[i]->name, to[i]->kind);
        temp->type = to[j]->type;
        temp->sym = to[j]->sym;
        pending_.push_back({from[i], temp});
        from[i] = temp;
        break;
      }
    }
    for (const auto& [source, temp] : pending_) copy(source, temp);
    pending_.clear();
    for (size_t i = 0; i < to.size(); ++i) {
      if (!(from.at(i).is_value() && from[i].value() == to[i])) copy(from[i], to[i]);
    }
  }

  void add_cond(const Node& node) {
    const Argument::List& operands = node.args.at(3).list();
    Graph& yes = graph_of(node.args[1]);
    Graph& no = graph_of(node.args[2]);
    bind_inputs(yes, operands);
    bind_inputs(no, operands);
    const size_t to_else = jump(node.args[0]);
    add_graph(yes);
    copy_all(yes.outputs, node.outputs);
    const size_t to_end = jump(false);
    out_.steps[to_else].target = here();
    add_graph(no);
    copy_all(no.outputs, node.outputs);
    out_.steps[to_end].target = here();
  }

  void add_while(const Node& node) {
    Graph& condition = graph_of(node.args.at(0));
    Graph& body = graph_of(node.args.at(1));
    const Argument::List& initial = node.args.at(2).list();
    Argument::List operands(node.outputs.begin(), node.outputs.end());
    for (const Argument& extra : node.args.at(3).list()) operands.push_back(extra);
    bind_inputs(condition, operands);
    bind_inputs(body, operands);
    copy_all(initial, node.outputs);
    const size_t start = here();
    add_graph(condition);
    const size_t leave = jump(condition.outputs.at(0));
    add_graph(body);
    carry(body.outputs, node.outputs);
    jump(false, start);
    out_.steps[leave].target = here();
    out_.loops.push_back({start, here() - 1});
  }

  void add_scan(const Node& node) {
    const size_t last = node.args.size() - 1;  // PyTorch 2.6 has dim and reverse before it.
    if (last == 5 && (node.args[3].to_int() != 0 || node.args[4].to_bool())) refuse(node);
    add_iteration(node, node.args.at(1).list(), node.args.at(2).list(), node.args.at(last).list());
  }
  void add_map(const Node& node) {
    add_iteration(node, {}, node.args.at(1).list(), node.args.at(2).list());
  }

  Value* number(std::string_view name, ValueKind kind) { return root_.new_value(name, kind); }

  // The number of iterations: the first size of the first tensor that is iterated over.
  Argument length_of(const Argument::List& xs) {
    const Value* x = xs.at(0).value();
    const Sym& size = x->type.sizes.at(0);
    if (size.is_int()) return size.as_int();
    Value* length = number("length", ValueKind::kInt);
    call("aten::sym_size.int", {xs[0], 0}, {length});
    return length;
  }

  void add_iteration(const Node& node, const Argument::List& initial, const Argument::List& xs,
                     const Argument::List& extra) {
    Graph& body = graph_of(node.args.at(0));
    const std::vector<Value*> carried(node.outputs.begin(),
                                      node.outputs.begin() + static_cast<int64_t>(initial.size()));
    const std::vector<Value*> stacked(node.outputs.begin() + static_cast<int64_t>(initial.size()),
                                      node.outputs.end());
    copy_all(initial, carried);
    const Argument length = length_of(xs);
    Value* index = number("index", ValueKind::kInt);
    Value* more = number("more", ValueKind::kBool);
    move(0, index);
    const size_t start = here();
    call("executorch_prim::lt.Scalar", {index, length}, {more});
    const size_t leave = jump(more);
    Argument::List operands(carried.begin(), carried.end());
    for (const Argument& x : xs) {
      const TensorType& type = x.value()->type;
      Value* slice = root_.new_tensor(
          x.value()->name, TensorType(type.dtype, {type.sizes.begin() + 1, type.sizes.end()}));
      call("aten::select_copy.int_out", {x, 0, index}, {slice});
      operands.push_back(slice);
    }
    operands.insert(operands.end(), extra.begin(), extra.end());
    bind_inputs(body, operands);
    add_graph(body);
    for (size_t i = 0; i < stacked.size(); ++i) {
      call("executorch_prim::et_copy_index.tensor",
           {stacked[i], body.outputs.at(initial.size() + i), index}, {});
      out_.grown.push_back(stacked[i]);
    }
    carry({body.outputs.begin(), body.outputs.begin() + static_cast<int64_t>(initial.size())},
          carried);
    call("executorch_prim::add.Scalar", {index, 1}, {index});
    jump(false, start);
    out_.steps[leave].target = here();
    out_.loops.push_back({start, here() - 1});
  }

  Graph& root_;
  Schedule out_;
  std::vector<std::pair<Argument, Value*>> pending_;
};

}  // namespace

Schedule make_schedule(Graph& graph) { return Scheduler(graph).run(); }

}  // namespace taper::exir
