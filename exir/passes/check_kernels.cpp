#include "exir/passes/check_kernels.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "exir/ir/rewrite.h"
#include "exir/ops/infer.h"
#include "exir/ops/registry.h"
#include "exir/passes/kernel_call.h"
#include "kernels_portable/kernel_table.h"

namespace taper::exir {
namespace {

constexpr ScalarType kDtypes[] = {ScalarType::kFloat,    ScalarType::kDouble, ScalarType::kHalf,
                                  ScalarType::kBFloat16, ScalarType::kByte,   ScalarType::kChar,
                                  ScalarType::kShort,    ScalarType::kInt,    ScalarType::kLong,
                                  ScalarType::kBool,     ScalarType::kUInt16, ScalarType::kUInt32,
                                  ScalarType::kUInt64};

// What decides whether a kernel takes a call: dtypes, ranks, what is None.
std::string signature(const Schema& kernel, const Node& node) {
  std::string key = kernel.name;
  const auto add = [&](const Value* value) {
    key += " " + std::to_string(static_cast<int>(value->type.dtype)) + ":" +
           std::to_string(value->type.rank());
  };
  for (const Argument& arg : node.args) {
    key += arg.is_none() ? " -" : arg.is_list() ? " [" : " ";
    if (arg.is<ScalarType>()) key += std::to_string(static_cast<int>(std::get<ScalarType>(arg.v)));
    for_each_value(arg, add);
  }
  key += " ->";
  for (const Value* output : node.outputs) add(output);
  return key;
}

// Symbols at their values for the sample inputs, or at a small one within their bounds.
SymValues sample_values(const Graph& graph) {
  SymValues values = graph.hints;
  for (const auto& [symbol, range] : graph.ranges) {
    values.try_emplace(symbol, std::max(range.min, std::min<int64_t>(range.max, 4)));
  }
  return values;
}

class Asker {
 public:
  explicit Asker(const Graph& program) : values_(sample_values(program)) {}

  // Why the kernel does not take the call, with every tensor of the dtype `from` turned into one of
  // `to`; null if it takes it, or cannot be asked.
  const char* refusal(const Node& node, const Schema& schema, ScalarType from,
                      ScalarType to) const {
    const Kernel* kernel = find_kernel(portable::portable_kernels(), schema.name);
    if (kernel == nullptr) return nullptr;
    CallInputs inputs;
    inputs.number = [&](const Value* value) { return value->sym.evaluate(values_); };
    inputs.type = [&](const Value* value) -> std::optional<TensorType> {
      TensorType type = value->type;
      if (type.dtype == from) type.dtype = to;
      for (Sym& size : type.sizes) {
        const std::optional<int64_t> known = size.evaluate(values_);
        if (!known || *known < 0) return std::nullopt;
        size = Sym(*known);
      }
      return type;
    };
    KernelCall call(node, inputs, CallMode::kProbe);
    if (!call.prepare(schema)) return nullptr;
    const std::optional<Status> status = call.run(*kernel);
    return status && status->error() == Error::kInvalidType ? status->message() : nullptr;
  }

 private:
  SymValues values_;
};

// The dtype of the operands that the kernel objects to: the first tensor's.
ScalarType first_dtype(const Node& node) {
  const Value* first = nullptr;
  const auto look = [&](const Value* value) {
    if (first == nullptr && value->kind == ValueKind::kTensor) first = value;
  };
  for_each_value(node, look);
  for (const Value* output : node.outputs) look(output);
  return first == nullptr ? ScalarType::kFloat : first->type.dtype;
}

std::string dtypes_text(const Node& node) {
  std::set<std::string> seen;
  std::string text;
  const auto add = [&](const Value* value) {
    if (value->kind != ValueKind::kTensor || !seen.insert(to_string(value->type.dtype)).second) {
      return;
    }
    text += (text.empty() ? "" : ", ") + std::string(to_string(value->type.dtype));
  };
  for_each_value(node, add);
  for (const Value* output : node.outputs) add(output);
  return text;
}

Diagnostic wrong_dtype(const Asker& asker, const Node& node, const Schema& schema,
                       const char* message) {
  Diagnostic out =
      diagnose(node, "unsupported-dtype",
               node.schema->name + ": no kernel takes " + dtypes_text(node) + " (" + message + ")",
               "convert the tensors on that line with .to() before, or export the "
               "model in another dtype");
  const ScalarType from = first_dtype(node);
  for (const ScalarType to : kDtypes) {
    if (to == from || asker.refusal(node, schema, from, to) != nullptr) continue;
    out.expected += (out.expected.empty() ? "" : ", ") + std::string(to_string(to));
  }
  out.actual = dtypes_text(node);
  return out;
}

// A rule of the declaration that gives other types than the program states.
void check_rule(const Node& node, std::vector<Diagnostic>& problems) {
  std::string why;
  try {
    const auto types = declared_types(*node.schema, node.args);
    if (!types) return;
    for (size_t i = 0; i < types->size() && i < node.outputs.size(); ++i) {
      const TensorType &rule = (*types)[i], &stated = node.outputs[i]->type;
      if (rule.dtype == stated.dtype && rule.sizes == stated.sizes) continue;
      why = "result " + std::to_string(i) +
            " has another type than the rule of its declaration "
            "gives";
    }
  } catch (const Failure& failure) {
    why = failure.what();
  }
  if (why.empty()) return;
  problems.push_back(diagnose(node, "declaration-mismatch", node.schema->name + ": " + why,
                              "change the declaration, or leave the rule out"));
}

}  // namespace

int check_kernels(Graph& graph) {
  const Asker asker(graph);
  std::set<std::string> taken;
  std::vector<Diagnostic> problems;
  for (Graph* each : all_graphs(graph)) {
    for (const auto& node : each->nodes) {
      if (is_declared(node->target())) check_rule(*node, problems);
      const std::shared_ptr<const Schema> schema = out_variant(node->target());
      if (schema == nullptr || is_refused(*node)) continue;
      const std::string key = signature(*schema, *node);
      if (taken.count(key) != 0) continue;
      const ScalarType dtype = first_dtype(*node);
      const char* message = asker.refusal(*node, *schema, dtype, dtype);
      if (message == nullptr) {
        taken.insert(key);
        continue;
      }
      problems.push_back(wrong_dtype(asker, *node, *schema, message));
      mark_refused(*node);
    }
  }
  if (problems.empty()) return 0;
  const std::string summary = problems[0].message;
  throw Failure(summary, std::move(problems));
}

}  // namespace taper::exir
