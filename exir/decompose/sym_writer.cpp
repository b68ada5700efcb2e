// One call per function. What has no scalar operator is made of others: "and" is a product, "or" a
// maximum, floor(x) is trunc(x // 1), and transcendental functions run on a tensor of one number.

#include "exir/decompose/sym_writer.h"

#include <algorithm>

#include "exir/ir/number_nodes.h"
#include "exir/ir/sym_expr.h"

namespace taper::exir {
namespace {

bool is_truth(const Sym& sym) { return sym.op() >= SymOp::kEq; }

ValueKind kind_of(const Sym& sym) {
  if (is_truth(sym)) return ValueKind::kBool;
  return is_real(sym) ? ValueKind::kFloat : ValueKind::kInt;
}

// The scalar operator of a function of one or two numbers; empty if there is none.
std::string_view scalar_operator(SymOp op) {
  switch (op) {
    case SymOp::kFloorDiv:
      return "python::floordiv";
    case SymOp::kMod:
    case SymOp::kPythonMod:
      return "python::mod";
    case SymOp::kPow:
    case SymOp::kFloatPow:
      return "python::pow";
    case SymOp::kTrueDiv:
      return "python::truediv";
    case SymOp::kToFloat:
      return "python::sym_float";
    case SymOp::kTruncToInt:
      return "python::trunc";
    case SymOp::kCeilToInt:
      return "python::ceil";
    case SymOp::kRoundToInt:
      return "python::round";
    case SymOp::kLShift:
      return "python::lshift";
    case SymOp::kRShift:
      return "python::rshift";
    case SymOp::kBitAnd:
      return "python::and_";
    case SymOp::kBitOr:
      return "python::or_";
    case SymOp::kEq:
      return "python::eq";
    case SymOp::kNe:
      return "python::ne";
    case SymOp::kLt:
      return "python::lt";
    case SymOp::kLe:
      return "python::le";
    case SymOp::kGt:
      return "python::gt";
    case SymOp::kGe:
      return "python::ge";
    default:
      return {};
  }
}

}  // namespace

bool SymWriter::knows(const Sym& sym) const {
  if (sym.is_int() || sym.is_float() || values_.count(sym.text()) != 0) return true;
  const std::vector<Sym>& args = sym.args();
  return !sym.is_symbol() &&
         std::all_of(args.begin(), args.end(), [&](const Sym& arg) { return knows(arg); });
}

Argument SymWriter::write(const Sym& sym) {
  if (sym.is_int()) return sym.as_int();
  if (sym.is_float()) return sym.as_float();
  const auto known = values_.find(sym.text());
  if (known != values_.end()) return known->second;
  if (sym.is_symbol()) throw Failure("no value in the graph holds the size " + sym.text());
  Argument value = compute(sym);
  define(sym, value);
  return value;
}

Value* SymWriter::call(std::string_view target, const std::vector<Argument>& args, ValueKind kind,
                       const Sym& sym) {
  Value* value = emit_number(rewriter_, "size", kind, target, args, sym);
  std::string& name = value->producer->name;
  if (name.empty()) name = value->name;
  return value;
}

Argument SymWriter::call(std::string_view target, const std::vector<Argument>& args,
                         const Sym& sym) {
  return call(target, args, kind_of(sym), sym);
}

Argument SymWriter::compute(const Sym& sym) {
  const std::vector<Sym>& args = sym.args();
  switch (sym.op()) {
    case SymOp::kAdd:
    case SymOp::kFloatAdd:
      return fold(sym, "python::add", false);
    case SymOp::kMul:
    case SymOp::kFloatMul:
      return fold(sym, "python::mul", false);
    case SymOp::kMax:
      return fold(sym, "python::sym_max", false);
    case SymOp::kMin:
      return fold(sym, "python::sym_min", false);
    case SymOp::kAnd:
      return fold(sym, "python::mul", true);
    case SymOp::kOr:
      return fold(sym, "python::sym_max", true);
    case SymOp::kNot:
      return call("python::sym_not", {truth(args[0])}, sym);
    case SymOp::kWhere:
      return call("python::sym_ite", {truth(args[0]), write(args[1]), write(args[2])}, sym);
    case SymOp::kCeilDiv:
      return write(Sym(-1) * floor_div(Sym(-1) * args[0], args[1]));
    case SymOp::kModularIndexing:
      return write(mod(floor_div(args[0], args[1]), args[2]));
    case SymOp::kBitXor:
      return write(Sym::call(SymOp::kBitOr, args) - Sym::call(SymOp::kBitAnd, args));
    case SymOp::kFloorToInt: {
      const Sym whole = Sym::call(SymOp::kFloorDiv, {args[0], 1});
      const Argument floor = call("python::floordiv", {write(args[0]), 1}, kind_of(args[0]), whole);
      return call("python::trunc", {floor}, sym);
    }
    case SymOp::kUnary:
      return through_tensor(sym);
    default:
      break;
  }
  std::vector<Argument> operands;
  for (const Sym& arg : args) operands.push_back(write(arg));
  return call(scalar_operator(sym.op()), operands, sym);
}

// Folds the arguments from the left. A partial sum is not the whole: its value says which one it
// is, or a later search for the whole would find it. Truths are never searched for.
Argument SymWriter::fold(const Sym& sym, std::string_view target, bool of_truths) {
  const auto operand = [&](size_t i) {
    return of_truths ? truth(sym.args()[i]) : write(sym.args()[i]);
  };
  Argument total = operand(0);
  Sym part = sym.args()[0];
  for (size_t i = 1; i < sym.args().size(); ++i) {
    part = of_truths ? sym : Sym::call(sym.op(), {part, sym.args()[i]});
    total = call(target, {total, operand(i)}, part);
  }
  return total;
}

// A number counts as true unless it is 0.
Argument SymWriter::truth(const Sym& sym) {
  return write(is_truth(sym) ? sym : Sym::call(SymOp::kNe, {sym, 0}));
}

Argument SymWriter::through_tensor(const Sym& sym) {
  const TensorType type(ScalarType::kDouble, {});
  const std::string function = sym.name() == "trunc_float" ? "trunc" : sym.name();
  Value* x = rewriter_.emit("aten::scalar_tensor", {write(sym.args()[0]), type.dtype}, {type})[0];
  Value* y = rewriter_.emit("aten::" + function, {x}, {type})[0];
  return call("aten::_local_scalar_dense", {y}, ValueKind::kFloat, sym);
}

}  // namespace taper::exir
