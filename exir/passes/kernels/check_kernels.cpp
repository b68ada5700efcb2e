// When a kernel refuses a call, the other dtypes are tried, so that the message can name those
// that it takes.

#include "exir/passes/kernels/check_kernels.h"

#include <set>
#include <unordered_map>

#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/dtype_rule.h"
#include "kernels_portable/kernel_facts.h"

namespace taper::exir {
namespace {

constexpr ScalarType kDtypes[] = {ScalarType::kFloat,    ScalarType::kDouble, ScalarType::kHalf,
                                  ScalarType::kBFloat16, ScalarType::kByte,   ScalarType::kChar,
                                  ScalarType::kShort,    ScalarType::kInt,    ScalarType::kLong,
                                  ScalarType::kBool,     ScalarType::kUInt16, ScalarType::kUInt32,
                                  ScalarType::kUInt64};

// While it lives, the node's tensors of one dtype have another.
class Retyped {
 public:
  Retyped(const Node& node, ScalarType from, ScalarType to) : from_(from) {
    const auto change = [&](Value* value) {
      if (value->kind != ValueKind::kTensor || value->type.dtype != from) return;
      value->type.dtype = to;
      changed_.push_back(value);
    };
    for_each_value(node, change);
    for (Value* output : node.outputs) change(output);
  }
  Retyped(const Retyped&) = delete;
  Retyped& operator=(const Retyped&) = delete;
  ~Retyped() {
    for (Value* value : changed_) value->type.dtype = from_;
  }

 private:
  const ScalarType from_;
  std::vector<Value*> changed_;
};

// The dtype to vary when a kernel refuses a call: the first tensor's.
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

Diagnostic wrong_dtype(const Node& node, const Schema& schema, const DtypeRule& rule) {
  Diagnostic out = diagnose(node, "unsupported-dtype",
                            node.schema->name + ": no kernel takes " + dtypes_text(node),
                            "convert the tensors on that line with .to() before, or export the "
                            "model in another dtype");
  const ScalarType from = first_dtype(node);
  for (const ScalarType to : kDtypes) {
    if (to == from) continue;
    const Retyped retyped(node, from, to);
    if (!rule.takes(node, schema)) continue;
    out.expected += (out.expected.empty() ? "" : ", ") + std::string(to_string(to));
  }
  out.actual = dtypes_text(node);
  return out;
}

// Reports a declared operator whose type rule gives other types than the program states.
void check_rule(const Node& node, const ResultTypes& rule, std::vector<Diagnostic>& problems) {
  std::string why;
  try {
    const std::vector<TensorType> types = rule(*node.schema, node.args);
    for (size_t i = 0; i < types.size() && i < node.outputs.size(); ++i) {
      const TensorType& stated = node.outputs[i]->type;
      if (types[i].dtype == stated.dtype && types[i].sizes == stated.sizes) continue;
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
  const OperatorRegistry& operators = *graph.operators();
  std::unordered_map<std::string_view, DtypeRule> rules;
  std::vector<Diagnostic> problems;
  for (Graph* each : all_graphs(graph)) {
    for (const auto& node : each->nodes) {
      if (const ResultTypes rule = operators.declared_types(node->target())) {
        check_rule(*node, rule, problems);
      }
      const std::shared_ptr<const Schema> schema = operators.out_variant(node->target());
      if (schema == nullptr || is_refused(*node)) continue;
      const portable::KernelFacts* facts = portable::find_kernel_facts(schema->name);
      if (facts == nullptr) continue;
      const DtypeRule& rule = rules.try_emplace(facts->name, facts->dtypes).first->second;
      if (rule.takes(*node, *schema)) continue;
      problems.push_back(wrong_dtype(*node, *schema, rule));
      mark_refused(*node);
    }
  }
  if (problems.empty()) return 0;
  const std::string summary = problems[0].message;
  throw Failure(summary, std::move(problems));
}

}  // namespace taper::exir
