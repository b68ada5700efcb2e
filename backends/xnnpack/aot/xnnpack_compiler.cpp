// Checks the conditions that apply to every operator; op_table.h has the others.

#include "backends/xnnpack/aot/xnnpack_compiler.h"

#include <algorithm>
#include <unordered_set>

#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/descriptor.h"
#include "backends/xnnpack/payload_format.h"
#include "exir/ir/failure.h"

namespace taper::xnnpack {
namespace {

using exir::Graph;
using exir::Node;
using exir::Part;
using exir::Value;

// PyTorch names sizes that do not follow from inputs u0, u1, ...
bool is_data_dependent(const exir::Sym& size) {
  const std::vector<std::string> names = size.symbols();
  return std::any_of(names.begin(), names.end(), [](const auto& name) { return name[0] == 'u'; });
}

std::string type_problem(const Value* value, const Graph& graph, Types types) {
  if (value->kind != exir::ValueKind::kTensor) return {};
  const bool is_byte = types == Types::kBytesToo && value->type.dtype == ScalarType::kChar;
  if (value->type.dtype != ScalarType::kFloat && !is_byte && types != Types::kAny) {
    const bool is_short =
        value->type.dtype == ScalarType::kHalf || value->type.dtype == ScalarType::kBFloat16;
    return std::string("it computes with ") + to_string(value->type.dtype) + ", not float32" +
           (is_short ? "; if the model is exported in float32, XNNPACK runs it" : "");
  }
  if (value->type.rank() > kMaxRank) return "a tensor has more than six dimensions";
  if (!value->type.is_contiguous()) return "a tensor is not contiguous";
  for (const exir::Sym& size : value->type.sizes) {
    const exir::SymRange range = size.range(graph.ranges);
    if (range.max <= 0) return "a tensor has no elements";
    if (range.max > INT32_MAX) return "the size " + size.text() + " has no upper bound";
    if (range.min <= 0 && is_data_dependent(size)) {  // XNNPACK does not take empty tensors.
      return "the size " + size.text() + " is data-dependent and may be 0";
    }
  }
  return {};
}

// Whether a result other than the first is read.
bool reads_more_than_first(const Node& node, const Graph& graph) {
  const std::unordered_set<const Value*> others(node.outputs.begin() + 1, node.outputs.end());
  bool found = false;
  const auto look = [&](const Value* value) { found = found || others.count(value) != 0; };
  for (const auto& each : graph.nodes) exir::for_each_value(*each, look);
  for (const exir::Argument& output : graph.outputs) exir::for_each_value(output, look);
  for (const exir::Mutation& mutation : graph.mutations) look(mutation.source);
  return found;
}

int64_t most_elements(const Value* value, const Graph& graph) {
  int64_t count = 1;
  for (const exir::Sym& size : value->type.sizes) {
    if (__builtin_mul_overflow(count, size.range(graph.ranges).max, &count)) return INT64_MAX;
  }
  return count;
}

}  // namespace

bool is_constant(const Value* value) { return value->role == exir::ValueRole::kConstant; }

bool is_known(const exir::Argument& arg) {
  return arg.is<int64_t>() || arg.is<double>() || arg.is<bool>();
}

size_t dim_of(const exir::Argument& arg, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  const int64_t dim = arg.to_int();
  if (dim < -count || dim >= count) {
    throw exir::Failure("the dimension " + std::to_string(dim) + " is out of range");
  }
  return static_cast<size_t>(dim < 0 ? dim + count : dim);
}

std::vector<size_t> dims_of(const exir::Argument& arg, size_t rank) {
  std::vector<size_t> dims;
  if (arg.is_list()) {
    for (const exir::Argument& item : arg.list()) dims.push_back(dim_of(item, rank));
  } else if (arg.is_int()) {
    dims.push_back(dim_of(arg, rank));
  }
  if (dims.empty()) {
    for (size_t d = 0; d < rank; ++d) dims.push_back(d);
  }
  std::sort(dims.begin(), dims.end());
  return dims;
}

std::vector<int64_t> ints_of(const exir::Argument& arg, size_t count) {
  if (arg.is_int()) return std::vector<int64_t>(count, arg.to_int());
  std::vector<int64_t> items = exir::to_ints(arg);
  if (items.size() == 1) items.resize(count, items[0]);
  return items;
}

const OpRule* find_rule(std::string_view target) {
  for (const auto& rules : {kElementRules, kMatrixRules, kWindowRules, kReduceRules, kNormRules,
                            kMovementRules, kAttentionRules, kQuantizedRules}) {
    for (const OpRule& rule : rules) {
      if (rule.target == target) return &rule;
    }
  }
  return nullptr;
}

XnnpackCompiler::XnnpackCompiler(const exir::CompileOptions& options)
    : BackendCompiler(kIdentity, options.specs()),
      min_elements_(options[kMinElements]),
      widens_half_(options[kWidenFloat16] != 0),
      splits_weights_(options[kSplitWeights] != 0) {}

// Conditions on constants cannot be checked yet, since these may have to be folded first.
bool XnnpackCompiler::keeps_whole(const Node& node, const Graph& graph) const {
  for (const char* each : {"aten::hardswish", "aten::mish", "aten::prelu", "aten::_prelu_kernel"}) {
    if (node.is(each)) return node.outputs[0]->type.dtype == ScalarType::kFloat;
  }
  if (node.is("quantized_decomposed::dequantize_per_channel_group")) {
    return is_constant(tensor(node)) && node.outputs[0]->type.dtype == ScalarType::kFloat;
  }
  for (const char* each : {"torchao::choose_qparams_affine", "torchao::quantize_affine",
                           "torchao::dequantize_affine"}) {
    if (node.is(each)) return is_by_row(node);
  }
  if (node.is("quantized_decomposed::choose_qparams_symmetric.tensor")) {
    return tensor(node)->type.dtype == ScalarType::kFloat;
  }
  if (node.is("aten::_int_mm")) return true;  // restore_linear makes layers of them.
  return node.is("aten::scaled_dot_product_attention") && refusal(node, graph).empty();
}

std::string XnnpackCompiler::refusal(const Node& node, const Graph& graph) const {
  const OpRule* rule = find_rule(node.target());
  if (rule == nullptr || exir::is_refused(node)) return "XNNPACK does not support it";
  std::string problem;
  const auto check = [&](const Value* value) {
    if (problem.empty()) problem = type_problem(value, graph, rule->types);
  };
  exir::for_each_value(node, check);
  check(node.outputs[0]);
  if (!problem.empty()) return problem;
  if (rule->first_result_only && node.outputs.size() > 1 && reads_more_than_first(node, graph)) {
    return "its other results are read";
  }
  if (rule->refusal_in != nullptr) problem = rule->refusal_in(node, graph);
  if (!problem.empty()) return problem;
  return rule->refusal == nullptr ? "" : rule->refusal(node);
}

// With symbolic sizes, whether a node can be lowered depends on the rest of the partition: on the
// values that its sizes can be derived from, and on the readers of expanded tensors. So this tries
// to lower the partition.
std::vector<exir::Misfit> XnnpackCompiler::misfits(const Part& part) const {
  std::vector<exir::Misfit> found;
  // Such a result has one dimension in XNNPACK, and ExecuTorch's delegate refuses to give it back.
  for (const Value* output : part.outputs) {
    if (!part.for_executorch || output->type.rank() > 0) continue;
    found.push_back({output->producer, "ExecuTorch takes no result without dimensions"});
  }
  if (!found.empty()) return found;
  const bool all_known = std::all_of(part.nodes.begin(), part.nodes.end(), [](const Node* node) {
    return node->outputs[0]->type.is_static();
  });
  if (all_known) return {};
  Lowering lowering(part);
  const auto give_up = [&](const Node* node, const char* why) {
    found.push_back({node, why});
    lowering.leave_out(*node);
  };
  // If a step fails, the nodes that expand its inputs to dynamic sizes are left out first.
  const auto attempt = [&](const Node* node, const auto& step) {
    try {
      return step();
    } catch (const exir::Failure&) {
      exir::for_each_value(*node, [&](const Value* value) {
        if (lowering.repeats_openly(value)) give_up(value->producer, "a size is dynamic");
      });
    }
    try {
      step();
    } catch (const exir::Failure& failure) {
      give_up(node, failure.what());
    }
  };
  for (const Node* node : part.nodes) {
    attempt(node, [&] { find_rule(node->target())->lower(lowering, *node); });
  }
  for (const Value* output : part.outputs) {
    attempt(output->producer, [&] { lowering.plain(output); });
  }
  return found;
}

bool XnnpackCompiler::pays(const Part& part) const {
  int64_t arithmetic = 0;
  for (const Node* node : part.nodes) {
    const int weight = find_rule(node->target())->weight;
    if (weight >= 2) return true;
    if (weight == 1) {
      arithmetic += std::min(most_elements(node->outputs[0], *part.graph), min_elements_);
    }
  }
  return arithmetic >= min_elements_;
}

std::shared_ptr<exir::Delegate> XnnpackCompiler::compile(const Part& part) const {
  Lowering lowering(part);
  if (!splits_weights_) lowering.out().keep_weights_whole();
  for (size_t i = 0; i < part.nodes.size(); ++i) {
    lowering.out().set_origin(i);
    find_rule(part.nodes[i]->target())->lower(lowering, *part.nodes[i]);
  }
  lowering.finish_outputs();
  return std::make_shared<exir::Delegate>(lowering.out().finish());
}

}  // namespace taper::xnnpack
