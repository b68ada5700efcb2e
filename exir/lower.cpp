// The table of contents of the compiler: every pass, in order, with the reason it stands there.
//
// pipeline.cpp times each pass, skips it if disabled, and runs the verifier of the dialect that it
// leaves behind, in every build.

#include "exir/lower.h"

#include "exir/decompose/layers/recurrent.h"
#include "exir/delegate/compute_in_float.h"
#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/executorch_kernels.h"
#include "exir/passes/convert/canonical_layout.h"
#include "exir/passes/convert/decompose.h"
#include "exir/passes/convert/split_complex.h"
#include "exir/passes/convert/to_edge.h"
#include "exir/passes/convert/to_out_variants.h"
#include "exir/passes/convert/true_types.h"
#include "exir/passes/functional/decompose_writes.h"
#include "exir/passes/functional/functionalize.h"
#include "exir/passes/functional/inline_wrappers.h"
#include "exir/passes/functional/lower_vmap.h"
#include "exir/passes/functional/unwrap_functionalized.h"
#include "exir/passes/functional/unwrap_out_dtype.h"
#include "exir/passes/kernels/check_kernels.h"
#include "exir/passes/kernels/pack_weights.h"
#include "exir/passes/kernels/row_quantisation.h"
#include "exir/passes/simplify/cse.h"
#include "exir/passes/simplify/fold_batch_norm.h"
#include "exir/passes/simplify/fold_constants.h"
#include "exir/passes/simplify/integer_formats.h"
#include "exir/passes/simplify/join_convolutions.h"
#include "exir/passes/simplify/keep_assertions.h"
#include "exir/passes/simplify/keep_old_values.h"
#include "exir/passes/simplify/prepare_for_inference.h"
#include "exir/passes/simplify/remove_noops.h"
#include "exir/passes/simplify/restore_gelu.h"
#include "exir/passes/simplify/restore_linear.h"
#include "exir/passes/simplify/restore_rows.h"
#include "exir/passes/simplify/share_matrices.h"
#include "exir/passes/simplify/sum_convolutions.h"
#include "exir/passes/simplify/trim_windows.h"
#include "exir/pipeline.h"
#include "kernels_portable/kernel_table.h"

namespace taper::exir {
namespace {

// Whether the target has a kernel of a name for a call. A kernel that a declaration names comes
// with the application.
HasKernel kernels_of(const Graph& graph, const LowerOptions& options) {
  return [&graph, &options](std::string_view name, const Node& call) {
    if (!options.for_executorch && options.has_kernel) return options.has_kernel(name);
    if (graph.operators()->is_declared(name)) return true;
    return options.for_executorch ? executorch_has_kernel(name) && executorch_takes(call)
                                  : find_kernel(portable::portable_kernels(), name) != nullptr;
  };
}

int run_out_variants(Graph& graph, Lowering& lowering) {
  Delegation* report = lowering.options.delegation;
  if (report != nullptr) {
    report->in_bytes = stored_wide(lowering.few_bits, graph);
    for (std::string& name : stored_wide(lowering.with_codes, graph)) {
      report->widened.push_back(std::move(name));
    }
  }
  const HasKernel has_kernel = kernels_of(graph, lowering.options);
  const Aten aten = lowering.options.aten ? Aten::kYes : Aten::kNo;
  if (!lowering.options.for_executorch) {
    return to_out_variants(graph, has_kernel, kNoKernelRemedy, aten);
  }
  return to_out_variants(graph, has_kernel,
                         "ExecuTorch's runtime has no kernel for it: leave out "
                         "--compat=executorch, rewrite that line with other operators, or let a "
                         "backend run it");
}
template <int (*kPass)(Graph&)>
int plain(Graph& graph, Lowering&) {
  return kPass(graph);
}
// Backends copy the parts of channels that kernels only address, so zeros in windows cost less.
int run_join_convolutions(Graph& graph, Lowering& lowering) {
  return join_convolutions(graph, !lowering.options.backends.empty());
}
template <typename Question>
bool any_backend(const LowerOptions& options, const Question& asks) {
  return std::any_of(options.backends.begin(), options.backends.end(),
                     [&](const auto& backend) { return asks(*backend); });
}
// linear multiplies by the weight as PyTorch stores it, so no transposed copy of the weight is
// needed, neither in the file nor in memory.
bool stays_whole(const Node& node) {
  return node.target() == "aten::linear" && is_floating(node.outputs[0]->type.dtype) &&
         node.arg("weight").value()->type.rank() == 2;
}
// Whether a value is computed from constants alone, in a few steps such as casts.
bool is_fixed(const Value* value, int steps) {
  if (value->role == ValueRole::kConstant) return true;
  if (value->producer == nullptr || steps == 0) return false;
  bool fixed = true;
  for_each_value(*value->producer,
                 [&](const Value* arg) { fixed = fixed && is_fixed(arg, steps - 1); });
  return fixed;
}
// Weights in groups or in formats of other libraries, for which there is no kernel; constant
// folding keeps their integers.
bool is_weight_in_groups(const Node& node) {
  if (has_integer_format(node)) return is_fixed(node.arg(0).value(), 3);
  if (!node.is("quantized_decomposed::dequantize_per_channel_group")) return false;
  constexpr int kSteps = 3;
  const auto is_known = [&](const char* name) {
    return node.arg(name).is_none() || is_fixed(node.arg(name).value(), kSteps);
  };
  return is_known("input") && is_known("scales") && is_known("zero_points");
}
// Weights of 8-bit floats, which constant folding decodes whatever the runtime.
bool is_fixed_look_up(const Node& node) {
  constexpr int kSteps = 16;
  return node.is("taper::look_up") && is_fixed(node.arg(0).value(), kSteps);
}
// Rules that emit operators of this runtime; for ExecuTorch, which does not have them, those that
// replace them. Attention that a backend has left in parts may still be delegated in parts.
const Decompositions& own_rules(const LowerOptions& options) {
  const auto joined = [](std::initializer_list<const Decompositions*> tables) {
    Decompositions all;
    for (const Decompositions* each : tables) all.insert(all.end(), each->begin(), each->end());
    return all;
  };
  static const Decompositions with_backends =
      joined({&recurrent_layer_rules(), &scan_rules(), &scattered_bag_rules()});
  static const Decompositions own = joined({&with_backends, &attention_operator_rules()});
  static const Decompositions for_executorch =
      joined({&fourier_product_rules(), &executorch_rules(), &look_up_rules()});
  if (options.for_executorch) return for_executorch;
  return options.backends.empty() ? own : with_backends;
}
template <int (*kPass)(Graph&, Aten)>
int with_aten(Graph& graph, Lowering& lowering) {
  return kPass(graph, lowering.options.aten ? Aten::kYes : Aten::kNo);
}
// ExecuTorch's runtime has no kernel for assertions.
int run_keep_assertions(Graph& graph, Lowering& lowering) {
  std::vector<std::string>* warnings = lowering.options.warnings;
  const int count = keep_assertions(graph, warnings);
  if (!lowering.options.for_executorch || count == 0) return count;
  drop_assertions(graph);
  if (warnings != nullptr) {
    warnings->push_back(
        "ExecuTorch's runtime has no kernel for what this program states of its "
        "inputs: " +
        std::to_string(count) + (count == 1 ? " condition is" : " conditions are") + " left out");
  }
  return 0;
}
// Whether a node stays as it is until backends have been asked.
bool stays_for_now(const Node& node, const Graph& graph, const LowerOptions& options) {
  return stays_whole(node) || is_weight_in_groups(node) || is_fixed_look_up(node) ||
         (!options.for_executorch && (is_row_quantisation(node) || node.is("aten::_int_mm"))) ||
         any_backend(options, [&](const BackendCompiler& backend) {
           return backend.keeps_whole(node, graph) || keeps_whole_in_float(backend, node, graph);
         });
}
int run_decompose(Graph& graph, Lowering& lowering) {
  const LowerOptions& options = lowering.options;
  const KeepWhole keep = [&](const Node& node) {
    const bool keeps = stays_for_now(node, graph, options);
    if (keeps) lowering.kept_whole.emplace(node.target());
    return keeps;
  };
  return decompose(graph, keep, own_rules(options));
}
// What no backend wants whole is decomposed again.
int run_restore_rows(Graph& graph, Lowering& lowering) {
  const LowerOptions& options = lowering.options;
  if (options.for_executorch && options.backends.empty()) return 0;
  const int count = restore_rows(graph);
  if (count == 0) return 0;
  const KeepWhole keep = [&](const Node& node) {
    if (!node.target().starts_with("torchao::")) return true;
    const bool keeps = stays_for_now(node, graph, options);
    if (keeps) lowering.kept_whole.emplace(node.target());
    return keeps;
  };
  if (decompose(graph, keep, own_rules(options)) != 0) to_edge(graph);
  return count;
}
int run_restore_linear(Graph& graph, Lowering& lowering) {
  const int count = restore_linear(graph);
  if (count != 0) lowering.kept_whole.insert({"aten::linear", "torchao::dequantize_affine"});
  return count;
}
int run_fold_constants(Graph& graph, Lowering& lowering) {
  return fold_constants(graph, lowering.widened);
}
int run_pack_weights(Graph& graph, Lowering& lowering) {
  return pack_weights(graph, kernels_of(graph, lowering.options));
}
int run_compute_in_float(Graph& graph, Lowering& lowering) {
  return compute_in_float(graph, lowering.options.backends, lowering.options.delegated);
}
int run_partition(Graph& graph, Lowering& lowering) {
  const LowerOptions& options = lowering.options;
  if (options.delegation != nullptr) {
    lowering.few_bits = weights_of_few_bits(graph);
    lowering.with_codes = weights_with_codes(graph);
  }
  for (const Value* constant : graph.constants) {
    if (options.delegation == nullptr || lowering.widened.count(constant) == 0) continue;
    options.delegation->widened.push_back(constant->fqn.empty() ? constant->name : constant->fqn);
  }
  return partition(graph, options.backends, {options.delegated, options.for_executorch},
                   options.delegation);
}
// Decomposes what was kept whole for a backend but stayed outside of it, or in a body of control
// flow, and groups of weights that could not be folded.
int run_decompose_rest(Graph& graph, Lowering& lowering) {
  const LowerOptions& options = lowering.options;
  if (lowering.kept_whole.empty()) return 0;
  const HasKernel has_kernel = kernels_of(graph, options);
  const KeepWhole keep = [&](const Node& node) {
    const std::shared_ptr<const Schema> variant = graph.operators()->out_variant(node.target());
    return variant != nullptr && has_kernel(variant->name, node);
  };
  const int count = decompose(graph, keep, own_rules(options));
  lowering.kept_whole.clear();
  if (count == 0) return 0;
  to_edge(graph);
  for (Graph* g : all_graphs(graph)) erase_dead(*g);
  return count;
}
int run_erase_dead(Graph& graph, Lowering&) {
  int erased = 0;
  for (Graph* g : all_graphs(graph)) erased += erase_dead(*g);
  return erased;
}

constexpr Pass kPasses[] = {
    // ATen: make the graph a function of its inputs.
    // The bodies of Python's context managers are inlined.
    {"inline_wrappers", Need::kAlways, Dialect::kAten, plain<inline_wrappers>},
    // torch.vmap becomes a map over the samples, which functionalize can handle.
    {"lower_vmap", Need::kAlways, Dialect::kAten, plain<lower_vmap>},
    // In programs that were decomposed, custom operators that write are wrapped.
    {"unwrap_functionalized", Need::kAlways, Dialect::kAten, plain<unwrap_functionalized>},
    // Reference representations of quantised programs call operators in wider integers.
    {"unwrap_out_dtype", Need::kAlways, Dialect::kAten, plain<unwrap_out_dtype>},
    // Writes of other kinds, such as updates of LLM caches, become ATen's, which functionalize
    // handles.
    {"decompose_writes", Need::kAlways, Dialect::kAten, with_aten<decompose_writes>},
    // Writes become values, written buffers become states. All later passes rely on it. It
    // needs the layouts of the file to tell views from copies.
    {"functionalize", Need::kAlways, Dialect::kAten, plain<functionalize>},
    // Strides in the file follow PyTorch's views; from here on every tensor is contiguous.
    {"canonical_layout", Need::kAlways, Dialect::kAten, plain<canonical_layout>},
    // Few kernels and no decompositions take complex numbers: from here on all tensors are real.
    {"split_complex", Need::kAlways, Dialect::kAten, with_aten<split_complex>},
    // What the program states of its inputs becomes instructions. After split_complex, so that all
    // sizes are final.
    {"keep_assertions", Need::kOptional, Dialect::kAten, run_keep_assertions},
    // Assertions, detach and dropout compute nothing in inference. Before decompose, which has no
    // rules for them.
    {"prepare_for_inference", Need::kAlways, Dialect::kAten, with_aten<prepare_for_inference>},
    // Some versions of PyTorch state wrong types. After dropout is gone, which has no type rule.
    {"true_types", Need::kAlways, Dialect::kAten, plain<true_types>},

    // Core ATen: a small set of operators.
    {"decompose", Need::kAlways, Dialect::kCoreAten, run_decompose},
    // Dead results of decompositions would only slow down what follows.
    {"erase_dead", Need::kOptional, Dialect::kCoreAten, run_erase_dead},

    // Edge: everything explicit.
    {"to_edge", Need::kAlways, Dialect::kEdge, plain<to_edge>},
    // Before folding, so that equal nodes are folded once.
    {"cse", Need::kOptional, Dialect::kEdge, plain<cse>},
    // Before folding, which would store a constant as often as it is repeated.
    {"share_matrices", Need::kOptional, Dialect::kEdge, plain<share_matrices>},
    // Weights that are permuted, cast or dequantised are so at compile time, by the device's
    // kernels.
    {"fold_constants", Need::kOptional, Dialect::kEdge, run_fold_constants},
    // Rows that are quantised at run time are torchao's nodes again, if the program was decomposed.
    {"restore_rows", Need::kOptional, Dialect::kEdge, run_restore_rows},
    // Weights that folding left as integers are those of linear layers again, if the program was
    // decomposed.
    {"restore_linear", Need::kOptional, Dialect::kEdge, run_restore_linear},
    // Many programs spell this function by eight nodes.
    {"restore_gelu", Need::kOptional, Dialect::kEdge, plain<restore_gelu>},
    // After folding: the statistics are plain constants now.
    {"fold_batch_norm", Need::kOptional, Dialect::kEdge, plain<fold_batch_norm>},
    // After folding, which makes plain constants of weights.
    {"sum_convolutions", Need::kOptional, Dialect::kEdge, plain<sum_convolutions>},
    {"join_convolutions", Need::kOptional, Dialect::kEdge, run_join_convolutions},
    {"trim_windows", Need::kOptional, Dialect::kEdge, plain<trim_windows>},
    // What the passes above left behind: copies and views that change nothing.
    {"remove_noops", Need::kOptional, Dialect::kEdge, plain<remove_noops>},
    {"cse_again", Need::kOptional, Dialect::kEdge, plain<cse>},
    {"erase_dead_again", Need::kAlways, Dialect::kEdge, run_erase_dead},
    // After all passes that remove copies, since these must be kept.
    {"keep_old_values", Need::kAlways, Dialect::kEdge, plain<keep_old_values>},

    // Backends compute float16 nodes in float32.
    {"compute_in_float", Need::kOptional, Dialect::kEdge, run_compute_in_float},
    // Subgraphs that backends take, in order of preference, become calls of them; kernels run the
    // rest.
    {"partition", Need::kOptional, Dialect::kEdge, run_partition},

    // What no backend took runs on kernels, which have forms for weights of integers, and for rows
    // that are quantised before them.
    {"pack_weights", Need::kAlways, Dialect::kEdge, run_pack_weights},

    // What was kept whole for a backend that did not take it is decomposed for the kernels.
    {"decompose_rest", Need::kAlways, Dialect::kEdge, run_decompose_rest},

    // Dtypes are final: every kernel is checked to take those of its calls.
    {"check_kernels", Need::kAlways, Dialect::kEdge, plain<check_kernels>},

    // Backend: every node names its kernel. Memory planning and emission follow in export.cpp.
    {"to_out_variants", Need::kAlways, Dialect::kBackend, run_out_variants},
};

}  // namespace

const std::vector<std::string>& pass_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Pass& pass : kPasses) out.push_back(pass.name);
    return out;
  }();
  return names;
}

std::span<const Pass> all_passes() { return kPasses; }

std::vector<PassReport> lower(Graph& graph, const LowerOptions& options) {
  LowerOptions own = options;
  for (auto& backend : own.backends) {
    const auto theirs = options.for_executorch ? backend->for_executorch() : nullptr;
    if (theirs != nullptr) backend = theirs;
  }
  return lower(graph, own, all_passes());
}

}  // namespace taper::exir
