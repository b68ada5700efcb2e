// The contents of a Sym, for the files that build, evaluate and parse it only.

#pragma once

#include "exir/ir/sym.h"

namespace taper::exir {

struct Sym::Expr {
  SymOp op = SymOp::kInt;
  int64_t number = 0;  // kInt
  double real = 0;     // kFloat
  std::string name;    // kSymbol, kUnary
  std::vector<Sym> args;
  std::string text;
  int depth = 0;
};

// The name of a call in the text form, such as "max"; empty for what is not written as a call.
std::string_view sym_op_name(SymOp op);

// The operator of that name in the text form; nullopt if there is none.
std::optional<SymOp> sym_op_of(std::string_view name);

// How many arguments a call takes: {least, most}.
std::pair<size_t, size_t> sym_op_arity(SymOp op);

// True if the value is a double, not an integer.
bool is_real(const Sym& sym);

// An int64 or a double, with which folding and evaluation compute.
struct SymNumber {
  bool real = false;
  int64_t i = 0;
  double d = 0;
  double to_double() const { return real ? d : static_cast<double>(i); }
};

// The value of a call; nullopt on overflow, on division by zero, and if it is undefined.
std::optional<SymNumber> apply_sym(SymOp op, const std::vector<SymNumber>& args,
                                   std::string_view name);

}  // namespace taper::exir
