// Casts the operands, calls the operator, and casts what it gives.

#include "exir/passes/functional/unwrap_out_dtype.h"

#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/import_target.h"
#include "exir/ops/promote.h"

namespace taper::exir {
namespace {

[[noreturn]] void fail(const Node& node, const std::string& why) {
  const Diagnostic out = diagnose(node, "unsupported-wrapper", why,
                                  "call convert_pt2e() without use_reference_representation");
  throw Failure(out.message, {out});
}

std::shared_ptr<const Schema> wrapped_operator(const Node& node, const Graph& graph) {
  const Argument& op = node.arg("op");
  if (!op.is<std::string>()) fail(node, "wraps no operator");
  const std::string name = import_target(op.text());
  auto schema = graph.operators()->find(name);
  if (schema == nullptr) fail(node, "wraps " + name + ", which is not known");
  const bool returns_one = schema->returns.size() == 1 && !schema->returns[0].type.list &&
                           schema->returns[0].type.base == TypeBase::kTensor;
  if (schema->mutates() || !returns_one) {
    fail(node, "wraps " + name + ", which does not return one new tensor");
  }
  return schema;
}

// The dtype in which the operator computes: that of its operands and of a tensor of the wanted
// dtype together.
ScalarType common_type(std::vector<Argument> operands, ScalarType wanted) {
  Value one;
  one.type = TensorType(wanted, {Sym(1)});
  operands.push_back(&one);
  return result_type(operands);
}

Value* cast(Value* value, ScalarType to, Rewriter& rewriter) {
  if (value->kind != ValueKind::kTensor || value->type.dtype == to) return value;
  TensorType type = value->type;
  type.dtype = to;
  return rewriter.emit("aten::_to_copy", {value, to}, {type})[0];
}

void unwrap(const Node& node, Rewriter& rewriter) {
  const std::shared_ptr<const Schema> op = wrapped_operator(node, rewriter.graph());
  if (!node.arg("dtype").is<ScalarType>() || node.outputs.size() != 1) {
    fail(node, "does not name one dtype of one result");
  }
  const auto wanted = std::get<ScalarType>(node.arg("dtype").v);
  std::vector<Argument> args = node.arg("operands").list();
  if (args.size() > op->args.size()) fail(node, "passes too many operands to " + op->name);
  const ScalarType common = common_type(args, wanted);
  for (Argument& arg : args) {
    if (arg.is_value()) arg = cast(arg.value(), common, rewriter);
  }
  for (size_t i = args.size(); i < op->args.size(); ++i) {  // emit() adds the defaults.
    const SchemaArg& left_out = op->args[i];
    if (!left_out.has_default) fail(node, op->name + " is wrapped without " + left_out.name);
  }
  TensorType type = node.outputs[0]->type;
  const bool divides = op->name.starts_with("aten::div.");
  type.dtype = divides ? float_result_type(args) : common;
  Value* result = rewriter.emit(op->name, args, {type})[0];
  rewriter.replace(node.outputs[0], cast(result, wanted, rewriter));
}

}  // namespace

int unwrap_out_dtype(Graph& graph) {
  int total = 0;
  for (Graph* each : all_graphs(graph)) {
    total += rewrite(*each, [](Node& node, Rewriter& rewriter) {
      if (!node.is("higher_order::out_dtype")) return false;
      unwrap(node, rewriter);
      return true;
    });
  }
  return total;
}

}  // namespace taper::exir
