// Runs, times and verifies passes, skips disabled ones, and collects what they refuse.

#include "exir/pipeline.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "exir/decompose/rules.h"
#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/aten_calls.h"
#include "exir/ops/variants.h"

namespace taper::exir {
namespace {

bool listed(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_disabled(const std::vector<std::string>& disabled, std::span<const Pass> passes) {
  for (const std::string& name : disabled) {
    const auto pass =
        std::find_if(passes.begin(), passes.end(), [&](const Pass& p) { return name == p.name; });
    if (pass == passes.end()) throw Failure("there is no pass named " + name);
    if (pass->need == Need::kAlways) throw Failure("the pass " + name + " cannot be disabled");
  }
}

class Pipeline {
 public:
  Pipeline(Graph& graph, const LowerOptions& options) : graph_(graph), lowering_{options, {}} {}

  std::vector<PassReport> run(std::span<const Pass> passes) {
    verify_import();
    for (const Pass& pass : passes) {
      if (pass.after > options().until) break;
      if (options().from && pass.after <= *options().from) continue;
      if (options().before_pass) {
        options().before_pass(pass.name, static_cast<size_t>(&pass - passes.data()), passes.size());
      }
      if (!listed(options().disabled, pass.name) && !try_pass(pass)) break;
    }
    findings_.throw_if_any();
    return std::move(reports_);
  }

 private:
  const LowerOptions& options() const { return lowering_.options; }
  const OperatorRegistry& operators() const { return *graph_.operators(); }

  void verify_import() {
    try {
      verify(graph_, Dialect::kAten);
    } catch (const Failure& failure) {
      findings_.add("import", failure);
      findings_.throw_if_any();
    }
  }

  // Returns whether the passes after it may run: a pass that refuses nodes leaves a legal graph, in
  // which they may find more problems.
  bool try_pass(const Pass& pass) {
    if (pass.after != Dialect::kAten && !unknown_) note_unknown();
    const auto start = std::chrono::steady_clock::now();
    PassReport report{pass.name, 0, 0};
    try {
      report.changes = pass.run(graph_, lowering_);
    } catch (const Failure& failure) {
      take(pass, failure);
    } catch (const std::exception&) {
      if (findings_.empty()) throw;
      return false;  // Nodes that were refused may have caused this.
    }
    if (!is_legal(pass)) return false;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    report.seconds = took.count();
    if (report.changes > 0 && options().after_pass) options().after_pass(pass.name, graph_);
    reports_.push_back(std::move(report));
    return true;
  }

  // Keeps the problems that a pass reported, but not those of nodes that can be left to PyTorch's
  // operators. Before the graph is functional, what a pass refuses may write.
  void take(const Pass& pass, const Failure& failure) {
    if (!options().aten || pass.after == Dialect::kAten || failure.diagnostics().empty()) {
      return findings_.add(pass.name, failure);
    }
    std::vector<Diagnostic> rest;
    for (const Diagnostic& problem : failure.diagnostics()) {
      if (!leave_refused(problem.where)) rest.push_back(problem);
    }
    if (rest.empty()) return;
    findings_.add(pass.name, Failure(failure.what(), std::move(rest)));
  }

  // Returns whether nodes of that name were refused and all of them are left to PyTorch, now or for
  // an earlier problem.
  bool leave_refused(std::string_view name) {
    size_t left = 0;
    for (const Graph* g : all_graphs(graph_)) {
      for (const auto& node : g->nodes) {
        if (node->name != name) continue;
        if (is_left_to_aten(*node)) ++left;
        if (!is_refused(*node)) continue;
        if (!why_not_aten(*node, operators()).empty()) return false;
        leave_to_aten(*node, operators());
        ++left;
      }
    }
    return left != 0;
  }

  // Throws Failure naming the pass if it broke a graph of which nothing was refused so far.
  bool is_legal(const Pass& pass) {
    try {
      verify(graph_, pass.after, [this](const Node& node) { return may_stand(node); });
      return true;
    } catch (const Failure& failure) {
      if (!findings_.empty()) return false;
      findings_.add(pass.name,
                    Failure(std::string("after pass ") + pass.name + ": " + failure.what(),
                            failure.diagnostics()));
      return false;
    }
  }

  // True if no rule decomposes the node, and neither its operator nor its copying form has a
  // kernel.
  bool cannot_compile(const Node& node) const {
    if (is_left_to_aten(node) || find_decomposition(node) != nullptr) return false;
    if (kernel_schema(operators(), *node.schema) != nullptr) return false;
    return !node.schema->returns_alias() ||
           operators().out_variant(copy_twin(node.target())) == nullptr;
  }

  void note_unknown() {
    unknown_.emplace();
    for (const Graph* g : all_graphs(graph_)) {
      for (const auto& node : g->nodes) {
        if (is_refused(*node) || !cannot_compile(*node)) continue;
        if (options().aten && why_not_aten(*node, operators()).empty()) {
          leave_to_aten(*node, operators());
        } else {
          unknown_->emplace(node->target());
        }
      }
    }
  }

  // Calls that are legal beyond the Core ATen set, or in Edge without an out variant.
  bool may_stand(const Node& node) const {
    const bool has_kernel = operators().out_variant(node.target()) != nullptr;
    if (has_kernel && find_decomposition(node) == nullptr) return true;
    const std::string name(node.target());
    return lowering_.kept_whole.count(name) != 0 || (unknown_ && unknown_->count(name) != 0);
  }

  Graph& graph_;
  Lowering lowering_;
  // The operators of the program that cannot be compiled; found once its graph is functional.
  std::optional<std::unordered_set<std::string>> unknown_;
  std::vector<PassReport> reports_;
  Findings findings_;
};

}  // namespace

std::vector<PassReport> lower(Graph& graph, const LowerOptions& options,
                              std::span<const Pass> passes) {
  check_disabled(options.disabled, passes);
  return Pipeline(graph, options).run(passes);
}

}  // namespace taper::exir
