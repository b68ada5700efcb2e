// Every mutated value that is also an output or the source of a mutation is cloned once.

#include "exir/passes/simplify/keep_old_values.h"

#include <unordered_set>

#include "exir/ir/rewrite.h"

namespace taper::exir {

int keep_old_values(Graph& graph) {
  std::erase_if(graph.mutations, [](const Mutation& m) { return m.source == m.target; });
  std::unordered_set<const Value*> targets;
  for (const Mutation& mutation : graph.mutations) targets.insert(mutation.target);
  std::unordered_map<const Value*, Value*> copies;
  rewrite(
      graph, [](Node&, Rewriter&) { return false; },
      [&](Rewriter& rewriter) {
        const auto kept = [&](Value* value) {
          if (targets.count(value) == 0 || value->kind != ValueKind::kTensor) return value;
          Value*& copy = copies[value];
          if (copy == nullptr) copy = rewriter.emit("aten::clone", {value}, {value->type})[0];
          return copy;
        };
        for (Argument& output : graph.outputs) {
          if (output.is_value()) output = kept(output.value());
        }
        for (Mutation& mutation : graph.mutations) mutation.source = kept(mutation.source);
      });
  return static_cast<int>(copies.size());
}

}  // namespace taper::exir
