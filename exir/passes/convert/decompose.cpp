// Applies the rules in rounds until none applies; a rule that fails marks its node as refused.

#include "exir/passes/convert/decompose.h"

#include <stdexcept>

#include "exir/decompose/rules.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/promote.h"

namespace taper::exir {
namespace {

constexpr int kMaxRounds = 16;

// PyTorch accepts a number in the place of a tensor: 7 // x is floor_divide(7, x). Rules expect
// numbers on the right only; one on the left becomes a 0-d tensor, which does not raise the
// promoted dtype either.
void lift_left_number(Node& node, Rewriter& rewriter) {
  if (node.args.empty() || node.schema->args.empty()) return;
  const ArgType& type = node.schema->args[0].type;
  Argument& left = node.args[0];
  const bool tensor = left.is_value() && left.value()->kind == ValueKind::kTensor;
  if (type.base != TypeBase::kTensor || type.list || tensor || left.is_none()) return;
  bool exact = false;
  for_each_value(node, [&](const Value* value) {
    exact |= value->kind == ValueKind::kTensor && value->type.dtype == ScalarType::kDouble;
  });
  const ScalarType found = result_type({left});
  const ScalarType dtype = is_floating(found) && exact ? ScalarType::kDouble : found;
  left = rewriter.emit("aten::scalar_tensor", {left, dtype}, {TensorType(dtype, {})})[0];
}

struct Rules {
  const KeepWhole& keep;
  const Decompositions& first;

  // Null: the node stays as it is.
  const Decomposition* find(const Node& node) const {
    const Decomposition* entry = find_decomposition(first, node);
    if (entry == nullptr) entry = find_decomposition(node);
    return entry != nullptr && !(keep && keep(node)) ? entry : nullptr;
  }
};

bool decompose_node(Node& node, Rewriter& rewriter, SizeTable& sizes, const Rules& rules,
                    std::vector<Diagnostic>& problems) {
  const Decomposition* entry = rules.find(node);
  if (entry == nullptr) return false;
  std::string problem;
  try {
    lift_left_number(node, rewriter);
    Builder builder(node, rewriter, sizes, entry->precision);
    entry->rule(builder);
    return true;
  } catch (const std::out_of_range&) {
    problem = "a list or a tensor has too few entries";
  } catch (const Failure& failure) {
    problem = failure.what();
  }
  problems.push_back(diagnose(node, "cannot-decompose", problem));
  mark_refused(node);
  return false;
}

int decompose_once(Graph& graph, const Rules& rules, std::vector<Diagnostic>& problems) {
  return rewrite_sized(graph, [&](Node& node, Rewriter& rewriter, SizeTable& sizes) {
    return decompose_node(node, rewriter, sizes, rules, problems);
  });
}

}  // namespace

int decompose(Graph& graph, const KeepWhole& keep, const Decompositions& first) {
  int total = 0;
  std::vector<Diagnostic> problems;
  for (int round = 0, replaced = 1; replaced != 0 && round < kMaxRounds; ++round) {
    replaced = 0;  // A rule may add subgraphs, which the next round visits.
    for (Graph* g : all_graphs(graph)) replaced += decompose_once(*g, {keep, first}, problems);
    total += replaced;
  }
  if (!problems.empty()) throw Failure("operators that cannot be decomposed", std::move(problems));
  return total;
}

}  // namespace taper::exir
