// Functional forms and batch norms; see sites.h.

#include <algorithm>

#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/passes/functional/functionalize_write.h"
#include "exir/passes/simplify/fold_batch_norm.h"
#include "exir/quantize/sites.h"

namespace taper::exir {
namespace {

bool takes_the_same(const Schema& a, const Schema& b) {
  return std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(),
                    [](const SchemaArg& x, const SchemaArg& y) { return x.name == y.name; });
}

// Whether nothing but the tensor itself shows its memory.
bool is_fresh(const Value* value, const std::map<const Value*, bool>& viewed) {
  return value->producer != nullptr && !value->producer->schema->returns_alias() &&
         viewed.count(value) == 0;
}

// relu_(x) -> relu(x), where later readers of x read the result.
void make_functional(Graph& graph) {
  std::map<const Value*, bool> viewed;
  rewrite(graph, [&](Node& node, Rewriter& rewriter) {
    if (node.schema->returns_alias() || node.args.empty()) {
      for_each_value(node, [&](const Value* value) { viewed[value] = true; });
      return false;
    }
    if (!node.schema->mutates() || node.outputs.size() != 1 || !node.args[0].is_value()) {
      return false;
    }
    Value* self = node.args[0].value();
    const auto twin = graph.operators()->find(functional_twin(node.target()));
    if (twin == nullptr || twin->mutates() || !takes_the_same(*twin, *node.schema)) return false;
    if (!is_fresh(self, viewed) || self->type != node.outputs[0]->type) return false;
    node.schema = twin;
    rewriter.replace(self, node.outputs[0]);
    return false;
  });
}

// Folding names weights by "conv.weight.NAME", as if the weight were a module, which PyTorch cannot
// load beside the weight itself.
void name_as_siblings(Graph& graph) {
  for (Value* value : graph.constants) {
    const std::string end = "." + value->name;
    if (!value->fqn.ends_with(end)) continue;
    std::string fqn = value->fqn.substr(0, value->fqn.size() - end.size()) + "_folded";
    value->fqn = std::move(fqn);
  }
}

}  // namespace

void prepare_for_quantisation(Graph& graph) {
  make_functional(graph);
  if (fold_batch_norm(graph) != 0) name_as_siblings(graph);
  erase_dead(graph);
}

}  // namespace taper::exir
