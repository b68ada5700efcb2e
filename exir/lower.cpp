// The table of contents of the compiler: every pass, in order, with the reason it stands there.
//
// Each pass is timed, skipped if disabled, and followed by the verifier of the dialect that it
// leaves behind, in every build.

#include "exir/lower.h"

#include <algorithm>
#include <chrono>

#include "exir/decompose/recurrent.h"
#include "exir/delegate/compute_in_float.h"
#include "exir/dialect/verifier.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/executorch_kernels.h"
#include "exir/ops/registry.h"
#include "exir/passes/canonical_layout.h"
#include "exir/passes/check_kernels.h"
#include "exir/passes/cse.h"
#include "exir/passes/decompose.h"
#include "exir/passes/fold_batch_norm.h"
#include "exir/passes/fold_constants.h"
#include "exir/passes/functionalize.h"
#include "exir/passes/inline_wrappers.h"
#include "exir/passes/keep_old_values.h"
#include "exir/passes/loop_samples.h"
#include "exir/passes/remove_noise.h"
#include "exir/passes/remove_noops.h"
#include "exir/passes/spell_updates.h"
#include "exir/passes/split_complex.h"
#include "exir/passes/to_edge.h"
#include "exir/passes/to_out_variants.h"
#include "exir/passes/unwrap_functionalized.h"
#include "kernels_portable/kernel_table.h"

namespace taper::exir {
namespace {

enum class Need { kAlways, kOptional };

struct Pass {
  const char* name;
  Need need;
  Dialect after;  // What the verifier checks when the pass is done.
  int (*run)(Graph&, const LowerOptions&);
};

bool has_kernel(std::string_view name) {
  return is_declared(name) || find_kernel(portable::portable_kernels(), name) != nullptr;
}

bool executorch_has(std::string_view name) {
  return is_declared(name) || executorch_has_kernel(name);
}

int run_out_variants(Graph& graph, const LowerOptions& options) {
  if (options.for_executorch) {
    return to_out_variants(graph, executorch_has,
                           "ExecuTorch's runtime has no kernel for it: leave out "
                           "--compat=executorch, rewrite that line with other operators, or let a "
                           "backend run it");
  }
  return to_out_variants(graph, options.has_kernel ? options.has_kernel : has_kernel);
}
template <int (*kPass)(Graph&)>
int plain(Graph& graph, const LowerOptions&) {
  return kPass(graph);
}
// A product with a weight as PyTorch stores it needs no turned copy of the weight, neither in the
// file nor in memory.
bool stays_whole(const Node& node) {
  return node.target() == "aten::linear" && is_floating(node.outputs[0]->type.dtype) &&
         node.arg("weight").value()->type.rank() == 2;
}
// Layers that ExecuTorch has no operator for.
const Decompositions& own_rules(const LowerOptions& options) {
  static const Decompositions none;
  return options.for_executorch ? none : recurrent_layer_rules();
}
int run_decompose(Graph& graph, const LowerOptions& options) {
  const KeepWhole keep = [&](const Node& node) {
    return stays_whole(node) ||
           (options.backend != nullptr && (options.backend->keeps_whole(node, graph) ||
                                           keeps_whole_in_float(*options.backend, node, graph)));
  };
  return decompose(graph, keep, own_rules(options));
}
int run_fold_constants(Graph& graph, const LowerOptions& options) {
  return fold_constants(graph, options.backend != nullptr);
}
int run_compute_in_float(Graph& graph, const LowerOptions& options) {
  if (options.backend == nullptr) return 0;
  return compute_in_float(graph, *options.backend, options.delegated);
}
int run_partition(Graph& graph, const LowerOptions& options) {
  if (options.backend == nullptr) return 0;
  return partition(graph, *options.backend, {options.delegated, options.for_executorch},
                   options.outside);
}
// What was kept whole for a backend and stayed outside of it, or in a body of control flow.
int run_decompose_rest(Graph& graph, const LowerOptions& options) {
  if (options.backend == nullptr) return 0;
  const auto runs_there = options.for_executorch ? executorch_has
                          : options.has_kernel   ? options.has_kernel
                                                 : HasKernel(has_kernel);
  const KeepWhole keep = [&](const Node& node) {
    const std::shared_ptr<const Schema> variant = out_variant(node.target());
    return variant != nullptr && runs_there(variant->name);
  };
  const int count = decompose(graph, keep, own_rules(options));
  if (count == 0) return 0;
  to_edge(graph);
  for (Graph* g : all_graphs(graph)) erase_dead(*g);
  return count;
}
int run_erase_dead(Graph& graph, const LowerOptions&) {
  int erased = 0;
  for (Graph* g : all_graphs(graph)) erased += erase_dead(*g);
  return erased;
}

constexpr Pass kPasses[] = {
    // ATen: make the graph a function of its inputs.
    // Context managers of Python around parts of the graph: their bodies move into it.
    {"inline_wrappers", Need::kAlways, Dialect::kAten, plain<inline_wrappers>},
    // What torch.vmap does by samples becomes a loop over them, which functionalize knows.
    {"loop_samples", Need::kAlways, Dialect::kAten, plain<loop_samples>},
    // Operators of one's own that write come wrapped when a program was decomposed.
    {"unwrap_functionalized", Need::kAlways, Dialect::kAten, plain<unwrap_functionalized>},
    // Updates of caches become writes that functionalize knows.
    {"spell_updates", Need::kAlways, Dialect::kAten, plain<spell_updates>},
    // Writes become values, written buffers become states. All later passes rely on it. It
    // needs the layouts of the file to tell views from copies.
    {"functionalize", Need::kAlways, Dialect::kAten, plain<functionalize>},
    // Strides in the file follow PyTorch's views; from here on every tensor is contiguous.
    {"canonical_layout", Need::kAlways, Dialect::kAten, plain<canonical_layout>},
    // Few kernels take complex numbers, no rule does: from here on all is real and imaginary parts.
    {"split_complex", Need::kAlways, Dialect::kAten, plain<split_complex>},
    // Assertions, detach, dropout: nothing that computes. Before decompose, which knows no rules
    // for them.
    {"remove_noise", Need::kAlways, Dialect::kAten, plain<remove_noise>},

    // Core ATen: a small set of operators.
    {"decompose", Need::kAlways, Dialect::kCoreAten, run_decompose},
    // Dead results of decompositions would only slow down what follows.
    {"erase_dead", Need::kOptional, Dialect::kCoreAten, run_erase_dead},

    // Edge: everything explicit.
    {"to_edge", Need::kAlways, Dialect::kEdge, plain<to_edge>},
    // Before folding, so that one thing is folded once.
    {"cse", Need::kOptional, Dialect::kEdge, plain<cse>},
    // Weights that are permuted, cast or computed are so at compile time, by the device's kernels.
    {"fold_constants", Need::kOptional, Dialect::kEdge, run_fold_constants},
    // After folding: the statistics are plain constants now.
    {"fold_batch_norm", Need::kOptional, Dialect::kEdge, plain<fold_batch_norm>},
    // What the passes above left behind: copies and views that change nothing.
    {"remove_noops", Need::kOptional, Dialect::kEdge, plain<remove_noops>},
    {"cse_again", Need::kOptional, Dialect::kEdge, plain<cse>},
    {"erase_dead_again", Need::kAlways, Dialect::kEdge, run_erase_dead},
    // Last of all that sees values: the copies must stay.
    {"keep_old_values", Need::kAlways, Dialect::kEdge, plain<keep_old_values>},

    // Half of the numbers' width is not worth kernels of its own: such nodes become float32.
    {"compute_in_float", Need::kOptional, Dialect::kEdge, run_compute_in_float},
    // What a backend takes becomes calls of it; kernels run the rest.
    {"partition", Need::kOptional, Dialect::kEdge, run_partition},

    // What it wanted whole and did not take after all needs kernels, too.
    {"decompose_rest", Need::kAlways, Dialect::kEdge, run_decompose_rest},

    // Dtypes are final: the kernels are asked whether they take them.
    {"check_kernels", Need::kAlways, Dialect::kEdge, plain<check_kernels>},

    // Backend: every node names its kernel. Memory planning and emission follow in export.cpp.
    {"to_out_variants", Need::kAlways, Dialect::kBackend, run_out_variants},
};

bool listed(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

PassReport run_pass(const Pass& pass, Graph& graph, const LowerOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  PassReport report{pass.name, pass.run(graph, options), 0};
  try {
    const LegalOps any = [](std::string_view) { return true; };
    verify(graph, pass.after, pass.after == Dialect::kBackend ? LegalOps() : any);
  } catch (const Failure& failure) {
    throw Failure(std::string("after pass ") + pass.name + ": " + failure.what(),
                  failure.diagnostics());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  report.seconds = took.count();
  if (report.changes > 0 && options.after_pass) options.after_pass(pass.name, graph);
  return report;
}

// A pass that refuses nodes leaves a whole graph, in which the passes after it may find more.
// Returns whether they may: false if the graph is broken.
bool is_whole(const Graph& graph, Dialect dialect) {
  try {
    verify(graph, dialect, [](std::string_view) { return true; });
    return true;
  } catch (const Failure&) {
    return false;
  }
}

}  // namespace

const std::vector<std::string>& pass_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Pass& pass : kPasses) out.push_back(pass.name);
    return out;
  }();
  return names;
}

std::vector<PassReport> lower(Graph& graph, const LowerOptions& options) {
  for (const std::string& name : options.disabled) {
    const auto pass = std::find_if(std::begin(kPasses), std::end(kPasses),
                                   [&](const Pass& p) { return name == p.name; });
    if (pass == std::end(kPasses)) throw Failure("there is no pass named " + name);
    if (pass->need == Need::kAlways) throw Failure("the pass " + name + " cannot be disabled");
  }
  std::vector<PassReport> reports;
  Findings findings;
  try {
    verify(graph, Dialect::kAten);
  } catch (const Failure& failure) {
    findings.add("import", failure);
    findings.throw_if_any();
  }
  for (const Pass& pass : kPasses) {
    if (pass.after > options.until) break;
    if (listed(options.disabled, pass.name)) continue;
    try {
      reports.push_back(run_pass(pass, graph, options));
    } catch (const Failure& failure) {
      findings.add(pass.name, failure);
      if (!is_whole(graph, pass.after)) break;
    } catch (const std::exception&) {
      if (findings.empty()) throw;
      break;  // A graph with refused nodes misled the pass.
    }
  }
  findings.throw_if_any();
  return reports;
}

}  // namespace taper::exir
