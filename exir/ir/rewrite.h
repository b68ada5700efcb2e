// The forward walk that most passes consist of: visit each node once, and keep or replace it.
//
//   int folded = rewrite(graph, [&](Node& node, Rewriter& r) {
//     if (!node.is("aten::relu")) return false;             // kept, with remapped arguments
//     Value* y = r.emit("aten::clamp", {node.arg(0), 0, Argument()}, {node.outputs[0]->type})[0];
//     r.replace(node.outputs[0], y);                        // later uses see y
//     return true;                                          // the node itself goes
//   });
//
// Arguments of the visited node are already remapped. Nodes made by emit() are placed before the
// visited one and inherit its name and source. Graph outputs and mutations are remapped at the end.
// Subgraphs in arguments are not entered; all_graphs() lists them.

#pragma once

#include <functional>
#include <unordered_map>

#include "exir/ir/graph.h"

namespace taper::exir {

// Notes that the value holds what another held, which it takes the place of (Value::holds).
void hold(Value& value, const Value& replaced);

class Rewriter {
 public:
  explicit Rewriter(Graph& graph) : graph_(graph) {}

  Graph& graph() { return graph_; }
  // Appends a call of the registered operator `target`; arguments left out at the end get their
  // defaults. One result value per type; they are new and named after the operator.
  std::vector<Value*> emit(std::string_view target, const std::vector<Argument>& args,
                           std::vector<TensorType> types);
  Node* emit_node(std::string_view target, const std::vector<Argument>& args);
  Node* emit_node(std::shared_ptr<const Schema> schema, const std::vector<Argument>& args);
  void replace(Value* old_value, Value* new_value);
  // Replaces a value by a literal or another value.
  void replace(Value* old_value, Argument new_argument);
  Argument resolve(const Argument& arg) const;

  // Puts what was emitted for the visited node into an order that depends only on how the roots
  // read it. Compilers choose in which order they evaluate the arguments of add(mul(a, b), neg(c)),
  // so such code emits nodes in different orders; files are to be the same on all platforms.
  void order_by_use(const Argument::List& roots);

 private:
  friend int rewrite(Graph&, const std::function<bool(Node&, Rewriter&)>&,
                     const std::function<void(Rewriter&)>&);
  Graph& graph_;
  Node* current_ = nullptr;
  std::vector<std::unique_ptr<Node>> out_;
  size_t first_ = 0;  // Where what is emitted for the visited node begins.
  std::unordered_map<Value*, Argument> replaced_;
};

// Returns how many nodes `visit` replaced. `at_end` may emit nodes after all others, before outputs
// and mutations are remapped.
//
// Programs from a file may contradict themselves, for example state a view of too few dimensions.
// Passes need not look for that where they use at() and std::get: what those throw becomes a
// Failure that names the visited node.
int rewrite(Graph& graph, const std::function<bool(Node&, Rewriter&)>& visit,
            const std::function<void(Rewriter&)>& at_end = {});

// `graph` and every graph nested in arguments of its nodes, innermost first.
std::vector<Graph*> all_graphs(Graph& graph);

// How often each value is used, outputs and mutations included.
std::unordered_map<const Value*, int> count_uses(const Graph& graph);

// Dead code elimination: removes nodes whose results are unused (and that write nothing), then
// unused constants. States and inputs stay. Returns the number of nodes removed.
int erase_dead(Graph& graph);

}  // namespace taper::exir
