// A mark in the operator's name, and the schema of the functional form.

#include "exir/ops/aten_calls.h"

#include <algorithm>

#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/declare.h"
#include "kernels_portable/kernel_table.h"

namespace taper::exir {
namespace {

constexpr std::string_view kByAten = "by_aten::";

// Running statistics, which these write although their schemas do not say so.
constexpr std::string_view kSilentWriters[] = {"batch_norm", "instance_norm"};

bool is_tensor(const Argument& arg) {
  return arg.is_value() && arg.value()->kind == ValueKind::kTensor;
}

// The schema of the operator that the node called before it was refused. Of one that nobody knows
// it is made of the call.
std::shared_ptr<const Schema> own_schema(const Node& node, const OperatorRegistry& operators) {
  const std::string name(called_operator(node));
  if (std::shared_ptr<const Schema> known = operators.find(name)) return known;
  auto schema = std::make_shared<Schema>(*node.schema);
  schema->name = name;
  return schema;
}

// Operators of PyTorch and of libraries that register theirs with it, declared or not.
bool is_of_dispatcher(std::string_view name, const OperatorRegistry& operators) {
  if (name.starts_with("aten::")) return true;
  return !name.starts_with("python::") && !name.starts_with("higher_order::") &&
         (operators.find(name) == nullptr || operators.is_declared(name));
}

std::string why_not_arguments(const Node& node, const Schema& schema) {
  if (node.args.size() != schema.args.size()) return "its arguments are not known";
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const ArgType& type = schema.args[i].type;
    const Argument& arg = node.args[i];
    if (type.base == TypeBase::kGraph) return "it takes a graph";
    if (type.base == TypeBase::kScalar && type.list) return "it takes a list of numbers";
    if (arg.is_none() || arg.is_list() || type.base == TypeBase::kAny) continue;
    if (type.base == TypeBase::kTensor && !is_tensor(arg)) return "a number is given as a tensor";
    if (type.base == TypeBase::kScalar && is_tensor(arg) && arg.value()->type.pairs) continue;
    if (type.base != TypeBase::kTensor && is_tensor(arg)) return "a number of it is complex";
  }
  return {};
}

std::string why_not_results(const Node& node) {
  if (node.outputs.empty()) return "it has no results";
  for (const Value* output : node.outputs) {
    if (output->kind != ValueKind::kTensor) return "one of its results is a number";
  }
  return {};
}

}  // namespace

std::string why_not_aten(const Node& node, const OperatorRegistry& operators) {
  const std::shared_ptr<const Schema> schema = own_schema(node, operators);
  const std::string& name = schema->name;
  if (!is_of_dispatcher(name, operators)) return "PyTorch has no such operator";
  if (schema->mutates()) return "it writes an argument";
  for (std::string_view part : kSilentWriters) {
    if (name.find(part) != name.npos) return "it may write an argument";
  }
  const std::string why = why_not_arguments(node, *schema);
  return why.empty() ? why_not_results(node) : why;
}

bool takes_numbers_as_tensors(const Node& node) {
  for (size_t i = 0; i < node.args.size() && i < node.schema->args.size(); ++i) {
    if (node.schema->args[i].type.base == TypeBase::kScalar && is_tensor(node.args[i])) return true;
  }
  return false;
}

void leave_to_aten(Node& node, const OperatorRegistry& operators) {
  auto schema = std::make_shared<Schema>(*own_schema(node, operators));
  schema->name.insert(0, kByAten);
  const bool tensors = takes_numbers_as_tensors(node);
  for (SchemaArg& arg : schema->args) {
    arg.alias.clear();
    if (tensors && arg.type.base == TypeBase::kScalar) arg.type.base = TypeBase::kTensor;
  }
  for (SchemaReturn& item : schema->returns) item.alias.clear();
  node.schema = std::move(schema);
}

bool is_left_to_aten(const Node& node) { return node.target().starts_with(kByAten); }

void call_functional_form(Node& node, const OperatorRegistry& operators) {
  const std::string own = node.schema->name.substr(kByAten.size());
  std::string form = "functional" + std::to_string(node.args.size());
  const std::shared_ptr<const Schema> known = operators.find(own);
  for (size_t i = 0; known != nullptr && i < known->args.size(); ++i) {
    const bool number = known->args[i].type.base == TypeBase::kScalar;
    if (number && node.schema->args[i].type.base == TypeBase::kTensor) {
      form += "_of_tensors";
      break;
    }
  }
  const std::string name = with_overload(own, form);
  Schema schema = *node.schema;
  const bool list = std::any_of(schema.returns.begin(), schema.returns.end(),
                                [](const SchemaReturn& item) { return item.type.list; });
  if (list) schema.returns = {{{TypeBase::kTensor, false, true}, {}, {}}};
  node.schema = std::make_shared<Schema>(*kernel_of(schema, name));
}

std::map<std::string, size_t> calls_of_aten(Graph& graph) {
  std::map<std::string, size_t> calls;
  for (const Graph* each : all_graphs(graph)) {
    for (const auto& node : each->nodes) {
      const bool kernel = node->schema->mutates();
      if (kernel && find_kernel(portable::portable_kernels(), node->target()) == nullptr) {
        ++calls[std::string(node->target())];
      }
    }
  }
  return calls;
}

}  // namespace taper::exir
