// Applies the rules for complex numbers to every call that touches them, then drops the marks.

#include "exir/passes/convert/split_complex.h"

#include "exir/decompose/complex.h"
#include "exir/ir/rewrite.h"

namespace taper::exir {
namespace {

bool has_pairs(const Argument& arg) {
  bool found = false;
  for_each_value(arg, [&](const Value* value) { found |= value->type.pairs; });
  return found;
}

bool touches(const Node& node) {
  for (const Argument& arg : node.args) {
    if (has_pairs(arg)) return true;
  }
  for (const Value* out : node.outputs) {
    if (out->type.pairs) return true;
  }
  // Fourier transforms of real tensors may give real tensors, or pairs that are not marked as
  // complex.
  return is_fourier(node.target());
}

bool is_higher_order(const Node& node) { return node.target().starts_with("higher_order::"); }
bool is_check(const Node& node) { return node.outputs.empty(); }

class Splitter {
 public:
  int run(Graph& graph) {
    return rewrite_sized(graph, [&](Node& node, Rewriter& rewriter, SizeTable& sizes) {
      return touches(node) && !is_higher_order(node) && !is_check(node) &&
             replace(node, rewriter, sizes);
    });
  }

  std::vector<Diagnostic> problems;

 private:
  bool replace(Node& node, Rewriter& rewriter, SizeTable& sizes) {
    const Decomposition* entry = find_complex_rule(node.target());
    if (entry == nullptr) {
      refuse(node, std::string(node.target()) + " is not supported on complex numbers");
      return false;
    }
    try {
      Builder builder(node, rewriter, sizes);
      entry->rule(builder);
      return true;
    } catch (const Failure& failure) {
      refuse(node, failure.what());
      return false;
    }
  }

  void refuse(Node& node, const std::string& message) {
    problems.push_back(diagnose(node, "complex-numbers", message));
    problems.back().remedy = "compute with real tensors: torch.view_as_real(x)";
    mark_refused(node);
  }
};

void refuse_at_the_border(const Graph& graph) {
  for (const auto* list : {&graph.inputs, &graph.outputs}) {
    for (const Argument& arg : *list) {
      if (!has_pairs(arg)) continue;
      throw Failure(
          "an input or output of the program is complex: hand over torch.view_as_real(x)");
    }
  }
}

void clear_marks(Graph& graph) {
  const auto clear = [](const Argument& arg) {
    for_each_value(arg, [](Value* value) { value->type.pairs = false; });
  };
  for (const Argument& arg : graph.inputs) clear(arg);
  for (Value* value : graph.constants) value->type.pairs = false;
  for (const auto& node : graph.nodes) {
    for (Value* out : node->outputs) out->type.pairs = false;
  }
}

}  // namespace

int split_complex(Graph& graph) {
  refuse_at_the_border(graph);
  Splitter splitter;
  int total = 0;
  const std::vector<Graph*> graphs = all_graphs(graph);
  for (Graph* each : graphs) total += splitter.run(*each);
  for (Graph* each : graphs) clear_marks(*each);
  if (!splitter.problems.empty()) {
    const std::string summary = splitter.problems[0].message;
    throw Failure(summary, std::move(splitter.problems));
  }
  return total;
}

}  // namespace taper::exir
