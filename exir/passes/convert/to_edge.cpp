// One function per implicit thing: numbers as operands, mixed dtypes, views, scalar arithmetic.

#include "exir/passes/convert/to_edge.h"

#include <string>

#include "exir/decompose/builder.h"
#include "exir/ir/number_nodes.h"
#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/facts.h"
#include "exir/ops/promote.h"
#include "exir/ops/variants.h"

namespace taper::exir {
namespace {

constexpr std::string_view kAten = "aten::";

bool is_tensor(const Argument& arg) {
  return arg.is_value() && arg.value()->kind == ValueKind::kTensor;
}
bool is_number(const Argument& arg) {
  return arg.is<int64_t>() || arg.is<double>() || arg.is<bool>() ||
         (arg.is_value() && arg.value()->kind != ValueKind::kTensor);
}

// A number in the place of a tensor, where the operator has no form for numbers: a 0-d tensor.
Value* as_tensor(Builder& b, const Argument& number, ScalarType dtype) {
  if (is_tensor(number)) return number.value();
  if (number.is_value()) return b.op("scalar_tensor", {number, dtype});
  return b.constant(number.to_double(), dtype);
}

Value* convert(Builder& b, Value* x, ScalarType dtype) {
  if (x->type.dtype == dtype) return x;
  Argument::List order;
  for (uint8_t d : contiguous_order(x->type.rank())) order.push_back(int64_t{d});
  return b.op("dim_order_ops::_to_dim_order_copy",
              {x, dtype, Argument(), Argument(), Argument(), false, order});
}

// The dtype that both operands get: the result's own for arithmetic, the promoted one for
// comparisons, whose result is bool.
ScalarType operand_dtype(const Node& node) {
  const ScalarType out = node.outputs[0]->type.dtype;
  const std::vector<Argument> operands = {node.args[0], node.args[1]};
  return out == ScalarType::kBool ? result_type(operands) : out;
}

// Moves a number from the first operand to the second, where the operator has a form for that.
bool swap_number(Builder& b, const Node& node) {
  if (!is_number(node.args[0]) || !is_tensor(node.args[1])) return false;
  const char* twin = facts_of(node.target()).reversed;
  if (twin == nullptr) return false;
  const bool power = node.is("aten::pow.Tensor_Tensor");
  const bool alpha = node.is("aten::add.Tensor") && node.args[2].to_double() != 1;
  if (alpha) return false;
  std::vector<Argument> args = {node.args[1], node.args[0]};
  if (power) std::swap(args[0], args[1]);
  if (node.is("aten::sub.Tensor")) args.push_back(node.args[2]);
  b.result(b.op(twin, args));
  return true;
}

bool binary(Builder& b, Node& node) {
  const OperatorFacts& facts = facts_of(node.target());
  if (!facts.is(kPromotes)) return false;
  if (swap_number(b, node)) return true;
  if (is_tensor(node.args[0]) && is_number(node.args[1]) && facts.scalar != nullptr) {
    node.schema = b.rewriter().graph().operators()->need(facts.scalar);
    return false;
  }
  const ScalarType dtype = operand_dtype(node);
  for (size_t i = 0; i < 2; ++i) {
    node.args[i] = convert(b, as_tensor(b, node.args[i], dtype), dtype);
  }
  return false;
}

bool where(Builder& b, Node& node) {
  if (!node.is("aten::where.self")) return false;
  const ScalarType dtype = node.outputs[0]->type.dtype;
  for (size_t i = 1; i < 3; ++i) {
    node.args[i] = convert(b, as_tensor(b, node.args[i], dtype), dtype);
  }
  return false;
}

bool cat(Builder& b, Node& node) {
  if (!node.is("aten::cat") && !node.is("aten::stack")) return false;
  const ScalarType dtype = node.outputs[0]->type.dtype;
  for (Argument& part : node.args[0].list()) part = convert(b, part.value(), dtype);
  return false;
}

bool copies(Builder& b, Node& node) {
  const bool convert_dtype = node.is("aten::_to_copy");
  if (!convert_dtype && !node.is("aten::clone")) return false;
  Value* x = node.args[0].value();
  Argument::List order;
  for (uint8_t d : contiguous_order(x->type.rank())) order.push_back(int64_t{d});
  const ScalarType dtype = node.outputs[0]->type.dtype;
  if (dtype == x->type.dtype) {
    b.result(b.op("dim_order_ops::_clone_dim_order", {x, false, order}));
  } else {
    b.result(convert(b, x, dtype));
  }
  return true;
}

void views(Node& node, const OperatorRegistry& operators) {
  if (!node.schema->returns_alias()) return;
  if (std::shared_ptr<const Schema> twin = operators.find(copy_twin(node.target()))) {
    node.schema = twin;
  }
}

// Scalar arithmetic without a prim operator, and the operator that computes it on 0-d tensors,
// whose first `tensors` operands are tensors.
struct Detour {
  std::string_view target;
  std::string_view kernel;
  size_t tensors;
};

constexpr Detour kDetours[] = {
    {"python::pow", "aten::pow.Tensor_Scalar", 1},
    {"python::_sym_sqrt", "aten::sqrt", 1},
    {"python::sym_sqrt", "aten::sqrt", 1},
    {"python::lshift", "aten::bitwise_left_shift.Tensor", 2},
    {"python::rshift", "aten::bitwise_right_shift.Tensor", 2},
    {"python::and_", "aten::bitwise_and.Tensor", 2},
    {"python::or_", "aten::bitwise_or.Tensor", 2},
    {"python::sym_ite", "aten::where.self", 3},
};

const Detour* find_detour(const Node& node) {
  for (const Detour& detour : kDetours) {
    if (node.is(detour.target)) return &detour;
  }
  return nullptr;
}

ScalarType scalar_type_of(ValueKind kind) {
  if (kind == ValueKind::kBool) return ScalarType::kBool;
  return kind == ValueKind::kFloat ? ScalarType::kDouble : ScalarType::kLong;
}

Argument through_tensors(const Detour& detour, const Node& node, Rewriter& r) {
  const ScalarType dtype = scalar_type_of(node.outputs[0]->kind);
  std::vector<Argument> args = node.args;
  for (size_t i = 0; i < detour.tensors; ++i) {
    const bool condition = i == 0 && node.is("python::sym_ite");
    const ScalarType type = condition ? ScalarType::kBool : dtype;
    args[i] = r.emit("aten::scalar_tensor", {args[i], type}, {TensorType(type, {})})[0];
  }
  return r.emit(detour.kernel, args, {TensorType(dtype, {})})[0];
}

// Rewrites scalar arithmetic that has no prim operator.
bool scalars(Node& node, Rewriter& r) {
  Value* out = node.outputs.empty() ? nullptr : node.outputs[0];
  const auto emit_part = [&](std::string_view target, const std::vector<Argument>& args,
                             ValueKind kind, const Sym& sym) {
    return emit_number(r, out->name, kind, target, args, sym);
  };
  const auto emit = [&](std::string_view target, const std::vector<Argument>& args,
                        ValueKind kind) { return emit_part(target, args, kind, out->sym); };
  if (node.is("python::ne")) {
    Value* same = emit("python::eq", node.args, ValueKind::kBool);
    r.replace(out, emit("python::sym_not", {same}, ValueKind::kBool));
    return true;
  }
  if (node.is("python::abs")) {
    const Sym x = node.args[0].is_value() ? node.args[0].value()->sym : Sym(node.args[0].to_int());
    const Sym minus = Sym::call(SymOp::kMul, {-1, x});
    Value* negative = emit_part("python::neg", node.args, out->kind, minus);
    r.replace(out, emit("python::sym_max", {node.args[0], negative}, out->kind));
    return true;
  }
  if (node.is("python::pos")) {
    r.replace(out, node.args[0]);
    return true;
  }
  if (const Detour* detour = find_detour(node)) {
    const Argument x = through_tensors(*detour, node, r);
    r.replace(out, emit("aten::_local_scalar_dense", {x}, out->kind));
    return true;
  }
  if (node.is("aten::sym_numel")) {
    Argument total = 1;
    const Value* x = node.args[0].value();
    Sym count = 1;
    for (size_t d = 0; d < x->type.rank(); ++d) {
      const Sym& length = x->type.sizes[d];
      const Argument size =
          length.is_int()
              ? Argument(length.as_int())
              : Argument(emit_part("aten::sym_size.int", {node.args[0], static_cast<int64_t>(d)},
                                   ValueKind::kInt, length));
      count = count * length;
      total = emit_part("python::mul", {total, size}, ValueKind::kInt, count);
    }
    r.replace(out, total);
    return true;
  }
  return false;
}

bool visit(Node& node, Rewriter& rewriter, SizeTable& sizes) {
  if (node.target().substr(0, kAten.size()) != kAten || node.is("aten::sym_numel")) {
    return scalars(node, rewriter);
  }
  if (node.outputs.empty()) return false;
  Builder b(node, rewriter, sizes);
  if (binary(b, node) || where(b, node) || cat(b, node) || copies(b, node)) return true;
  views(node, *rewriter.graph().operators());
  return false;
}

int to_edge_one(Graph& graph, std::vector<Diagnostic>& problems) {
  return rewrite_sized(graph, [&](Node& node, Rewriter& rewriter, SizeTable& sizes) {
    try {
      return visit(node, rewriter, sizes);
    } catch (const Failure& failure) {
      problems.push_back(diagnose(node, "cannot-make-explicit", failure.what()));
      mark_refused(node);
      return false;
    }
  });
}

}  // namespace

int to_edge(Graph& graph) {
  int total = 0;
  std::vector<Diagnostic> problems;
  for (Graph* g : all_graphs(graph)) total += to_edge_one(*g, problems);
  if (!problems.empty()) {
    const std::string summary = problems[0].where + ": " + problems[0].message;
    throw Failure(summary, std::move(problems));
  }
  return total;
}

}  // namespace taper::exir
