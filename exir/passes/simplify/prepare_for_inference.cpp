// Assertions leave bounds of symbols behind; calls that return their argument unchanged are
// replaced by it, unless CopyGuard wants a copy; nodes in training mode are refused or left alone.

#include "exir/passes/simplify/prepare_for_inference.h"

#include <algorithm>
#include <string_view>

#include "exir/ir/rewrite.h"
#include "exir/ops/facts.h"
#include "exir/passes/simplify/copy_guard.h"

namespace taper::exir {
namespace {

class Remover {
 public:
  Remover(Graph& program, Graph& graph, Aten aten)
      : program_(program), guard_(graph, &program != &graph), aten_(aten) {}

  int run(Graph& graph) {
    const int removed = rewrite(graph, [&](Node& node, Rewriter& rewriter) {
      const bool gone = visit(node, rewriter);
      if (!gone) guard_.note(node);
      return gone;
    });
    return removed;
  }

  std::vector<Diagnostic> problems;

 private:
  bool visit(Node& node, Rewriter& rewriter) {
    const OperatorFacts& facts = facts_of(node.target());
    if (facts.is(kAsserts)) return drop_assert(node);
    if (facts.is(kDropout)) return drop_dropout(node, rewriter);
    if (facts.is(kBatchNorm) && aten_ == Aten::kNo) check_batch_norm(node);
    if (!facts.is(kPassive) || !node.args[0].is_value() || node.outputs.size() != 1) return false;
    Value* from = node.args[0].value();
    if (from->kind != ValueKind::kTensor || !(from->type == node.outputs[0]->type)) return false;
    if (!guard_.removable(from, node.outputs[0])) return false;
    rewriter.replace(node.outputs[0], from);
    return true;
  }

  bool drop_assert(const Node& node) {
    if (!node.outputs.empty()) return false;
    if (node.target().find("sym_constrain_range") != std::string_view::npos) bound(node);
    return true;
  }

  void bound(const Node& node) {
    if (!node.args[0].is_value() || !node.args[0].value()->sym.is_symbol()) return;
    const std::string& name = node.args[0].value()->sym.name();
    const bool is_size = node.is("aten::sym_constrain_range_for_size");
    const auto [found, fresh] = program_.ranges.try_emplace(name, SymRange{INT64_MIN, INT64_MAX});
    SymRange& range = found->second;
    if (fresh && name[0] == 's') range.min = 0;
    const Argument &least = node.arg("min"), &most = node.arg("max");
    if (is_size) range.min = std::max<int64_t>(range.min, 0);
    if (least.is_int()) range.min = std::max(range.min, least.to_int());
    if (most.is_int()) range.max = std::min(range.max, most.to_int());
  }

  bool drop_dropout(Node& node, Rewriter& rewriter) {
    const Argument& train = node.arg("train");
    if (!train.is_none() && train.to_bool() && node.arg("p").to_double() != 0) {
      if (aten_ == Aten::kNo) {
        refuse(node, "drops values at random");
      } else if (!is_left_to_aten(node)) {
        leave_to_aten(node, *program_.operators());
      }
      return false;
    }
    if (!node.args[0].is_value()) return false;
    Value* from = node.args[0].value();
    const bool removable = guard_.removable(from, node.outputs[0]);
    rewriter.replace(node.outputs[0],
                     removable ? from : rewriter.emit("aten::clone", {from}, {from->type})[0]);
    if (node.outputs.size() == 2) {
      rewriter.replace(node.outputs[1],
                       rewriter.emit("aten::full_like", {from, true, ScalarType::kBool},
                                     {node.outputs[1]->type})[0]);
    }
    return true;
  }

  void check_batch_norm(Node& node) {
    const bool training = node.arg("training").to_bool();
    if (training && !node.arg("running_mean").is_none()) refuse(node, "updates its statistics");
  }

  void refuse(Node& node, const std::string& what) {
    problems.push_back(diagnose(node, "training-mode",
                                node.schema->name + " " + what + ": the model is in training mode",
                                "call model.eval() before torch.export.export"));
    problems.back().expected = "a model in eval() mode";
    problems.back().actual = "training mode";
    mark_refused(node);
  }

  Graph& program_;
  CopyGuard guard_;
  const Aten aten_;
};

}  // namespace

bool is_dropped_for_inference(std::string_view target) {
  return facts_of(target).is(kAsserts | kPassive | kDropout);
}

int prepare_for_inference(Graph& graph, Aten aten) {
  int total = 0;
  std::vector<Diagnostic> problems;
  for (Graph* each : all_graphs(graph)) {
    Remover remover(graph, *each, aten);
    total += remover.run(*each);
    for (Diagnostic& problem : remover.problems) problems.push_back(std::move(problem));
    total += erase_dead(*each);
  }
  if (!problems.empty()) {
    const std::string summary = problems[0].message;
    throw Failure(summary, std::move(problems));
  }
  return total;
}

}  // namespace taper::exir
