// A mark in the operator's name, and the schema of the functional form.

#include "exir/ops/aten_calls.h"

#include <algorithm>

#include "exir/ir/registry.h"
#include "exir/ops/declare.h"
#include "kernels_portable/kernel_table.h"

namespace taper::exir {
namespace {

constexpr std::string_view kByAten = "by_aten::";
constexpr std::string_view kAten = "aten::";

// Running statistics, which these write although their schemas do not say so.
constexpr std::string_view kSilentWriters[] = {"batch_norm", "instance_norm"};

bool is_tensor(const Argument& arg) {
  return arg.is_value() && arg.value()->kind == ValueKind::kTensor;
}

// The schema of the operator that the node called before it was refused.
std::shared_ptr<const Schema> own_schema(const Node& node, const OperatorRegistry& operators) {
  const std::string name(called_operator(node));
  if (const std::shared_ptr<const Schema> known = operators.find(name)) return known;
  auto schema = std::make_shared<Schema>(*node.schema);
  schema->name = name;
  return schema;
}

bool is_foreign(std::string_view name, const OperatorRegistry& operators) {
  return !name.starts_with("python::") && !name.starts_with("higher_order::") &&
         operators.find(name) == nullptr;
}

std::string why_not_arguments(const Node& node, const Schema& schema) {
  if (node.args.size() != schema.args.size()) return "its arguments are not known";
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const ArgType& type = schema.args[i].type;
    const Argument& arg = node.args[i];
    if (type.base == TypeBase::kGraph) return "it takes a graph";
    if (arg.is_none() || arg.is_list() || type.base == TypeBase::kAny) continue;
    if (type.base == TypeBase::kTensor && !is_tensor(arg)) return "a number is given as a tensor";
    if (type.base != TypeBase::kTensor && is_tensor(arg)) return "a number of it is complex";
  }
  return {};
}

std::string why_not_results(const Node& node, const Schema& schema) {
  if (node.outputs.empty()) return "it has no results";
  for (const SchemaReturn& item : schema.returns) {
    if (item.type.list && schema.returns.size() > 1) return "one of its results is a list";
  }
  for (const Value* output : node.outputs) {
    if (output->kind != ValueKind::kTensor) return "one of its results is a number";
  }
  return {};
}

// The type of an argument whose operator is not known.
ArgType type_of(const Argument& arg) {
  if (is_tensor(arg)) return {TypeBase::kTensor};
  if (arg.is<double>()) return {TypeBase::kFloat};
  if (arg.is<bool>()) return {TypeBase::kBool};
  if (!arg.is_list()) return {TypeBase::kInt};
  ArgType type{TypeBase::kInt};
  for (const Argument& item : arg.list()) {
    if (item.is_none()) {
      type.optional_item = true;
    } else if (type.base == TypeBase::kInt) {
      type.base = type_of(item).base;
    }
  }
  type.list = true;
  return type;
}

}  // namespace

std::string why_not_aten(const Node& node, const OperatorRegistry& operators) {
  const std::shared_ptr<const Schema> schema = own_schema(node, operators);
  const std::string& name = schema->name;
  if (!name.starts_with(kAten) && !is_foreign(name, operators)) return "PyTorch has no such operator";
  if (schema->mutates()) return "it writes an argument";
  for (std::string_view part : kSilentWriters) {
    if (name.find(part) != name.npos) return "it may write an argument";
  }
  const std::string why = why_not_arguments(node, *schema);
  return why.empty() ? why_not_results(node, *schema) : why;
}

void leave_to_aten(Node& node, const OperatorRegistry& operators) {
  auto schema = std::make_shared<Schema>(*own_schema(node, operators));
  schema->name.insert(0, kByAten);
  for (SchemaArg& arg : schema->args) arg.alias.clear();
  for (SchemaReturn& item : schema->returns) item.alias.clear();
  node.schema = std::move(schema);
}

bool is_left_to_aten(const Node& node) { return node.target().starts_with(kByAten); }

void call_functional_form(Node& node) {
  Schema schema = *node.schema;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    if (schema.args[i].type.base == TypeBase::kAny) schema.args[i].type = type_of(node.args[i]);
  }
  const std::string name = with_overload(schema.name.substr(kByAten.size()), "functional");
  node.schema = std::make_shared<Schema>(*kernel_of(schema, name));
}

bool needs_aten(const Node& node, const OperatorRegistry& operators) {
  return node.schema->mutates() && !operators.is_declared(node.target()) &&
         find_kernel(portable::portable_kernels(), node.target()) == nullptr;
}

}  // namespace taper::exir
