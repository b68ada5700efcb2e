// In-place operators are mapped to their functional variants by name: drop the trailing underscore,
// with a table of exceptions.

#include "exir/passes/functional/functionalize_write.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "exir/ir/number_nodes.h"
#include "exir/ir/registry.h"
#include "exir/ops/infer.h"
#include "exir/passes/functional/functionalize_view.h"

namespace taper::exir {
namespace {

[[noreturn]] void refuse(const Node& node, const std::string& why) {
  Diagnostic out = diagnose(
      node, "unsupported-write", node.schema->name + " " + why,
      "write it without changing a tensor in place, or call run_decompositions() before saving");
  const std::string summary = out.message;
  throw Failure(summary, {std::move(out)});
}

Value* convert(Rewriter& rewriter, Value* value, ScalarType dtype) {
  if (value->type.dtype == dtype) return value;
  TensorType type = value->type;
  type.dtype = dtype;
  return rewriter.emit("aten::_to_copy", {value, dtype}, {type})[0];
}

// `source` converted to the dtype and expanded to the sizes of `self`.
Value* spread(Rewriter& rewriter, Value* source, Value* self) {
  Value* out = convert(rewriter, source, self->type.dtype);
  if (out->type.sizes == self->type.sizes) return out;
  return rewriter.emit("aten::expand", {out, size_arguments(rewriter, self->type.sizes, self)},
                       {self->type})[0];
}

Value* filled(Rewriter& rewriter, const Node& node, Value* self) {
  const Argument value = node.args.size() > 1 ? node.args[1] : Argument(0);
  if (value.is_value() && value.value()->kind == ValueKind::kTensor) {
    return spread(rewriter, value.value(), self);
  }
  return rewriter.emit("aten::full_like", {self, value}, {self->type})[0];
}

// The dtype that the functional variant computes; the write then converts it to that of self.
ScalarType twin_dtype(const Schema& twin, const std::vector<Argument>& args, Value* self) {
  if (!has_type_rule(twin.name)) return self->type.dtype;
  try {
    const std::vector<TensorType> types = infer_types(twin, args);
    return types.empty() ? self->type.dtype : types[0].dtype;
  } catch (const Failure&) {
    return self->type.dtype;  // The verifier reports what is wrong with the arguments.
  }
}

bool is_inactive_dropout(const Node& node) {
  const bool dropout = node.is("aten::dropout_") || node.is("aten::feature_dropout_") ||
                       node.is("aten::alpha_dropout_") || node.is("aten::feature_alpha_dropout_");
  return dropout && !node.arg("train").to_bool();
}

}  // namespace

std::string functional_twin(std::string_view target) {
  static const std::unordered_map<std::string_view, const char*> irregular = {
      {"aten::bernoulli_.float", "aten::bernoulli.p"},
      {"aten::normal_", "aten::normal_functional"},
      {"aten::_index_put_impl_", "aten::index_put"},
      {"aten::transpose_", "aten::transpose.int"},
      {"aten::floor_divide_.Tensor", "aten::floor_divide"},
      {"aten::pow_.Scalar", "aten::pow.Tensor_Scalar"},
      {"aten::pow_.Tensor", "aten::pow.Tensor_Tensor"},
      {"aten::float_power_.Scalar", "aten::float_power.Tensor_Scalar"},
      {"aten::float_power_.Tensor", "aten::float_power.Tensor_Tensor"},
  };
  if (const auto found = irregular.find(target); found != irregular.end()) return found->second;
  const size_t dot = std::min(target.find('.'), target.size());
  std::string base(target.substr(0, dot));
  if (base.substr(0, 9) == "aten::__i" && base.size() > 11) {
    return "aten::__" + base.substr(9) + std::string(target.substr(dot));
  }
  if (base.back() != '_') return {};
  base.pop_back();
  return base + std::string(target.substr(dot));
}

bool writes_plainly(std::string_view target) {
  static const std::unordered_set<std::string_view> names = {
      "aten::copy_", "aten::fill_.Scalar", "aten::fill_.Tensor",
      "aten::zero_", "aten::detach_",      "aten::requires_grad_"};
  return names.count(target) != 0;
}

std::shared_ptr<const Schema> reshaping_twin(const Node& node, const OperatorRegistry& operators) {
  const std::string twin = functional_twin(node.target());
  const std::shared_ptr<const Schema> schema = twin.empty() ? nullptr : operators.find(twin);
  const bool keeps_contents = node.is("aten::detach_") || node.is("aten::requires_grad_");
  if (schema == nullptr || !schema->returns_alias() || keeps_contents) return nullptr;
  return node.outputs.size() == 1 ? schema : nullptr;
}

bool writes_out(const Node& node) {
  const std::vector<SchemaArg>& args = node.schema->args;
  return std::all_of(args.begin(), args.end(),
                     [](const SchemaArg& arg) { return !arg.written() || arg.keyword_only; });
}

std::vector<Value*> out_values(Rewriter& rewriter, const Node& node) {
  const OperatorRegistry& operators = *rewriter.graph().operators();
  const std::shared_ptr<const Schema> twin = operators.functional_variant(node.target());
  if (twin == nullptr) refuse(node, "writes in place and has no functional twin");
  std::vector<Argument> args;
  std::vector<TensorType> types;
  for (const SchemaArg& arg : twin->args) {
    const int at = node.schema->find(arg.name);
    args.push_back(at < 0 ? default_argument(arg) : node.args[static_cast<size_t>(at)]);
  }
  for (size_t i = 0; i < node.args.size(); ++i) {
    if (!node.schema->args[i].written()) continue;
    for_each_value(node.args[i], [&](const Value* out) { types.push_back(out->type); });
  }
  for (size_t i = 0; i < types.size() && i < node.outputs.size(); ++i) {
    if (node.outputs[i]->type.sizes != types[i].sizes)
      refuse(node, "changes the sizes of an out= argument");
  }
  const std::vector<TensorType> wanted = types;
  if (has_type_rule(twin->name)) {
    const std::vector<TensorType> computed = infer_types(*twin, args);
    for (size_t i = 0; i < types.size() && i < computed.size(); ++i) {
      types[i].dtype = computed[i].dtype;
    }
  }
  std::vector<Value*> out = rewriter.emit(twin->name, args, std::move(types));
  for (size_t i = 0; i < out.size(); ++i) out[i] = convert(rewriter, out[i], wanted[i].dtype);
  return out;
}

std::shared_ptr<const Schema> written_form(const Node& node, const OperatorRegistry& operators) {
  if (node.target().substr(0, 6) == "aten::") return nullptr;
  std::shared_ptr<const Schema> form = operators.functional_form(node.target());
  if (form == nullptr) return nullptr;
  for (size_t i = 0; i < node.args.size(); ++i) {
    const bool tensor = node.args[i].is_value() && node.args[i].value()->kind == ValueKind::kTensor;
    if (node.schema->args[i].written() && !tensor) {
      refuse(node,
             "writes its argument \"" + node.schema->args[i].name + "\", which is not a tensor");
    }
  }
  return form;
}

bool is_written_return(const Schema& schema, size_t result) {
  return result < schema.returns.size() && !schema.returns[result].alias.empty();
}

size_t written_argument(const Node& node) {
  size_t found = node.args.size();
  for (size_t i = 0; i < node.schema->args.size(); ++i) {
    const SchemaArg& arg = node.schema->args[i];
    if (!arg.written()) continue;
    if (arg.keyword_only) refuse(node, "writes its argument \"" + arg.name + "\"");
    if (found != node.args.size()) refuse(node, "writes more than one argument");
    found = i;
  }
  if (found == node.args.size() || !node.args[found].is_value() ||
      node.args[found].value()->kind != ValueKind::kTensor) {
    refuse(node, "does not write a plain tensor");
  }
  return found;
}

Value* written_value(Rewriter& rewriter, const Node& node, Value* self) {
  if (node.is("aten::detach_") || node.is("aten::requires_grad_") || is_inactive_dropout(node)) {
    return self;
  }
  if (node.is("aten::copy_")) {
    const Argument& source = node.args[1];
    if (source.is_value() && source.value()->kind == ValueKind::kTensor) {
      return spread(rewriter, source.value(), self);
    }
    return filled(rewriter, node, self);
  }
  if (node.is("aten::fill_.Scalar") || node.is("aten::fill_.Tensor") || node.is("aten::zero_")) {
    return filled(rewriter, node, self);
  }
  const std::string name = functional_twin(node.target());
  const OperatorRegistry& operators = *rewriter.graph().operators();
  const std::shared_ptr<const Schema> twin = name.empty() ? nullptr : operators.find(name);
  if (twin == nullptr || twin->mutates() || twin->returns_alias())
    refuse(node, "writes in place and has no functional twin");
  std::vector<Argument> args = node.args;
  if (args.size() > twin->args.size()) args.resize(twin->args.size());
  TensorType type = self->type;
  type.dtype = twin_dtype(*twin, args, self);
  return convert(rewriter, rewriter.emit(twin->name, args, {type})[0], self->type.dtype);
}

}  // namespace taper::exir
