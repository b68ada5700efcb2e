// Sym: names of calls and the parser of the text form.
//
//   sum     := product {("+" | "-") product}
//   product := unary {("*" | "//") unary}
//   unary   := ["-"] primary
//   primary := number | name | name "(" sum {"," sum} ")" | "(" sum ")"

#include <cctype>
#include <charconv>
#include <limits>

#include "exir/ir/failure.h"
#include "exir/ir/sym_expr.h"

namespace taper::exir {
namespace {

struct Call {
  SymOp op;
  std::string_view name;
  size_t least, most;
};

constexpr size_t kMany = 1000;
constexpr Call kCalls[] = {
    {SymOp::kAdd, "add", 1, kMany},
    {SymOp::kMul, "mul", 1, kMany},
    {SymOp::kFloorDiv, "floor_div", 2, 2},
    {SymOp::kCeilDiv, "ceil_div", 2, 2},
    {SymOp::kMod, "mod", 2, 2},
    {SymOp::kPythonMod, "python_mod", 2, 2},
    {SymOp::kModularIndexing, "modular_indexing", 3, 3},
    {SymOp::kMax, "max", 1, kMany},
    {SymOp::kMin, "min", 1, kMany},
    {SymOp::kPow, "pow", 2, 2},
    {SymOp::kWhere, "where", 3, 3},
    {SymOp::kTrueDiv, "true_div", 2, 2},
    {SymOp::kToFloat, "to_float", 1, 1},
    {SymOp::kTruncToInt, "trunc", 1, 1},
    {SymOp::kFloorToInt, "floor", 1, 1},
    {SymOp::kCeilToInt, "ceil", 1, 1},
    {SymOp::kRoundToInt, "round", 1, 1},
    {SymOp::kFloatMul, "float_mul", 1, kMany},
    {SymOp::kFloatAdd, "float_add", 1, kMany},
    {SymOp::kFloatPow, "float_pow", 2, 2},
    {SymOp::kLShift, "lshift", 2, 2},
    {SymOp::kRShift, "rshift", 2, 2},
    {SymOp::kBitAnd, "bit_and", 2, 2},
    {SymOp::kBitOr, "bit_or", 2, 2},
    {SymOp::kBitXor, "bit_xor", 2, 2},
    {SymOp::kEq, "eq", 2, 2},
    {SymOp::kNe, "ne", 2, 2},
    {SymOp::kLt, "lt", 2, 2},
    {SymOp::kLe, "le", 2, 2},
    {SymOp::kGt, "gt", 2, 2},
    {SymOp::kGe, "ge", 2, 2},
    {SymOp::kAnd, "and", 1, kMany},
    {SymOp::kOr, "or", 1, kMany},
    {SymOp::kNot, "not", 1, 1},
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Sym parse() {
    Sym out = sum();
    skip_space();
    if (at_ != text_.size()) fail("unexpected text");
    return out;
  }

 private:
  [[noreturn]] void fail(const char* why) {
    throw Failure("bad size expression \"" + std::string(text_.substr(0, 100)) + "\": " + why);
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void need(std::string_view token) {
    if (!take(token)) fail("a bracket is missing");
  }

  Sym sum() {
    if (++depth_ > 100) fail("nested too deeply");
    Sym out = product();
    while (true) {
      if (take("+")) {
        out = out + product();
      } else if (take("-")) {
        out = out - product();
      } else {
        break;
      }
    }
    --depth_;
    return out;
  }
  Sym product() {
    Sym out = signed_primary();
    while (true) {
      if (take("//")) {
        out = floor_div(out, signed_primary());
      } else if (take("*")) {
        out = out * signed_primary();
      } else {
        return out;
      }
    }
  }
  Sym signed_primary() {
    if (!take("-")) return primary();
    skip_space();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      return number(true);
    }
    const Sym value = primary();
    return value.is_float() ? Sym::from_float(-value.as_float()) : Sym(0) - value;
  }
  Sym primary() {
    skip_space();
    if (at_ == text_.size()) fail("it ends early");
    if (take("(")) {
      Sym inner = sum();
      need(")");
      return inner;
    }
    if (std::isdigit(static_cast<unsigned char>(text_[at_]))) return number(false);
    return name_or_call();
  }
  Sym number(bool negative) {
    const size_t start = at_;
    bool real = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool exponent_sign = (c == '-' || c == '+') && text_[at_ - 1] == 'e' && real;
      if (c == '.' || c == 'e') real = true;
      if (!std::isdigit(static_cast<unsigned char>(c)) && c != '.' && c != 'e' && !exponent_sign) {
        break;
      }
      ++at_;
    }
    const std::string digits =
        (negative ? "-" : "") + std::string(text_.substr(start, at_ - start));
    const char* end = digits.data() + digits.size();
    if (real) {
      double value = 0;
      if (std::from_chars(digits.data(), end, value).ptr != end) fail("bad number");
      return Sym::from_float(value);
    }
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (stop != end || error != std::errc()) fail("bad number");
    return Sym(value);
  }
  Sym name_or_call() {
    const size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) {
      ++at_;
    }
    const std::string_view name = text_.substr(start, at_ - start);
    if (name.empty()) fail("unexpected character");
    if (name == "inf") return Sym::from_float(std::numeric_limits<double>::infinity());
    if (name == "nan") return Sym::from_float(std::numeric_limits<double>::quiet_NaN());
    if (!take("(")) return Sym::symbol(name);
    std::vector<Sym> args;
    do {
      args.push_back(sum());
    } while (take(","));
    need(")");
    if (const auto op = sym_op_of(name)) return Sym::call(*op, std::move(args));
    return Sym::call(SymOp::kUnary, std::move(args), name);
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string_view sym_op_name(SymOp op) {
  for (const Call& call : kCalls) {
    if (call.op == op) return call.name;
  }
  return "function";
}

std::optional<SymOp> sym_op_of(std::string_view name) {
  for (const Call& call : kCalls) {
    if (call.name == name) return call.op;
  }
  return std::nullopt;
}

std::pair<size_t, size_t> sym_op_arity(SymOp op) {
  for (const Call& call : kCalls) {
    if (call.op == op) return {call.least, call.most};
  }
  if (op == SymOp::kUnary) return {1, 1};
  return {kMany, 0};  // kInt, kFloat, kSymbol: not calls.
}

Sym parse_sym(std::string_view text) { return Parser(text).parse(); }

}  // namespace taper::exir
