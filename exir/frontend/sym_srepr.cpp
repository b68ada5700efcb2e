// A recursive-descent parser of srepr text.
//
// Sympy keeps exact rationals, Sym does not: of Mul(Rational(1, 2), Add(s0, Integer(1))) only the
// product is an integer, not its factors. So each subexpression is carried as numerator and
// denominator, and the division takes place where an integer is needed.

#include "exir/frontend/sym_srepr.h"

#include <charconv>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "exir/frontend/refuse.h"

namespace taper::exir {
namespace {

constexpr int kDeepest = 64;

struct Head {
  std::string_view name;
  SymOp op;
};

constexpr Head kHeads[] = {
    {"FloorDiv", SymOp::kFloorDiv},
    {"CleanDiv", SymOp::kFloorDiv},
    {"CeilDiv", SymOp::kCeilDiv},
    {"Mod", SymOp::kMod},
    {"PythonMod", SymOp::kPythonMod},
    {"ModularIndexing", SymOp::kModularIndexing},
    {"Max", SymOp::kMax},
    {"Min", SymOp::kMin},
    {"PowByNatural", SymOp::kPow},
    {"Where", SymOp::kWhere},
    {"ITE", SymOp::kWhere},
    {"IntTrueDiv", SymOp::kTrueDiv},
    {"FloatTrueDiv", SymOp::kTrueDiv},
    {"FloatPow", SymOp::kFloatPow},
    {"ToFloat", SymOp::kToFloat},
    {"TruncToInt", SymOp::kTruncToInt},
    {"FloorToInt", SymOp::kFloorToInt},
    {"CeilToInt", SymOp::kCeilToInt},
    {"RoundToInt", SymOp::kRoundToInt},
    {"LShift", SymOp::kLShift},
    {"RShift", SymOp::kRShift},
    {"BitwiseFn_bitwise_and", SymOp::kBitAnd},
    {"BitwiseFn_bitwise_or", SymOp::kBitOr},
    {"BitwiseFn_bitwise_xor", SymOp::kBitXor},
    {"Equality", SymOp::kEq},
    {"Unequality", SymOp::kNe},
    {"StrictLessThan", SymOp::kLt},
    {"LessThan", SymOp::kLe},
    {"StrictGreaterThan", SymOp::kGt},
    {"GreaterThan", SymOp::kGe},
    {"And", SymOp::kAnd},
    {"Or", SymOp::kOr},
    {"Not", SymOp::kNot},
};

constexpr std::string_view kUnaryPrefix = "OpaqueUnaryFn_";

struct Fraction {
  Sym over;
  Sym under = Sym(1);
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Sym parse() {
    const Fraction out = expression();
    skip_space();
    if (at_ != text_.size()) fail("text follows its end");
    return whole(out);
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    refuse("bad-expression",
           "the size expression " + in_quotes(text_) + " cannot be read: " + std::string(why));
  }

  static Sym whole(const Fraction& f) {
    return f.under == Sym(1) ? f.over : floor_div(f.over, f.under);
  }

  // --- Tokens
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "' is missing");
  }
  std::string_view take_while(bool (*accept)(char)) {
    skip_space();
    const size_t start = at_;
    while (at_ < text_.size() && accept(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  static bool is_number(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
  }
  std::string_view quoted_text() {
    expect('\'');
    const size_t end = text_.find('\'', at_);
    if (end == text_.npos) fail("a quotation mark is missing");
    const std::string_view out = text_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }
  int64_t integer() {
    const std::string_view token = take_while(is_number);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    const bool is_integer = end == token.data() + token.size();
    if (error == std::errc() && is_integer) return value;
    // PyTorch bounds sizes by integers of more than 64 bits; any size is on the same side of the
    // nearest that fits.
    if (error != std::errc::result_out_of_range || !is_integer || !in_order_) {
      fail("a 64-bit integer is expected");
    }
    return token.starts_with('-') ? std::numeric_limits<int64_t>::min()
                                  : std::numeric_limits<int64_t>::max();
  }
  static std::optional<double> to_real(std::string_view token) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (token == "inf" || token == "+inf") return kInfinity;
    if (token == "-inf") return -kInfinity;
    double value = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
    return value;
  }

  // --- Grammar
  Fraction expression() {
    if (++depth_ > kDeepest) fail("it is nested too deeply");
    skip_space();
    const bool number =
        at_ < text_.size() && is_number(text_[at_]) && text_[at_] != 'e' && text_[at_] != 'E';
    Fraction out = number ? bare_number() : named();
    --depth_;
    return out;
  }

  Fraction bare_number() {
    const std::string_view token = take_while(is_number);
    if (token.find_first_of(".eE") == token.npos) {
      at_ -= token.size();
      return {Sym(integer())};
    }
    const std::optional<double> value = to_real(token);
    if (!value) fail("a number is expected");
    return {Sym::from_float(*value)};
  }

  Fraction named() {
    const std::string_view head = take_while(is_name);
    if (head.empty()) fail("a name is expected");
    if (head == "true" || head == "false") return {Sym(head == "true" ? 1 : 0)};
    expect('(');
    if (head == "Symbol") return symbol();
    if (head == "Float") return real();
    if (head == "Integer") return closed({Sym(integer())});
    if (head == "Rational") {
      const int64_t over = integer();
      expect(',');
      const int64_t under = integer();
      if (under <= 0) fail("a fraction has no positive denominator");
      return closed({Sym(over), Sym(under)});
    }
    if (head == "Piecewise") return piecewise();
    const bool in_order =
        std::exchange(in_order_, head.ends_with("LessThan") || head.ends_with("GreaterThan"));
    const auto args = arguments();
    in_order_ = in_order;
    return call(head, args);
  }

  // Piecewise(ExprCondPair(value, condition), ...): the first value whose condition holds.
  Fraction piecewise() {
    if (++depth_ > kDeepest) fail("it is nested too deeply");
    if (take_while(is_name) != "ExprCondPair") fail("a pair of value and condition is expected");
    expect('(');
    const Sym value = whole(expression());
    expect(',');
    const Sym condition = whole(expression());
    expect(')');
    Fraction out{value};
    if (take(',')) {
      out = {Sym::call(SymOp::kWhere, {condition, value, whole(piecewise())})};
    } else {
      expect(')');
    }
    --depth_;
    return out;
  }

  Fraction closed(Fraction f) {
    expect(')');
    return f;
  }

  Fraction symbol() {
    const Sym out = Sym::symbol(quoted_text());
    skip_keywords();
    return {out};
  }

  Fraction real() {
    const std::optional<double> value = to_real(quoted_text());
    if (!value) fail("a number is expected");
    skip_keywords();
    return {Sym::from_float(*value)};
  }

  void skip_keywords() {
    while (take(',')) {
      if (take_while(is_name).empty()) fail("a keyword is expected");
      expect('=');
      if (take_while(is_name).empty()) fail("a keyword lacks its value");
    }
    expect(')');
  }

  std::vector<Fraction> arguments() {
    std::vector<Fraction> out;
    if (take(')')) return out;
    do {
      out.push_back(expression());
    } while (take(','));
    expect(')');
    return out;
  }

  // --- Meaning
  Fraction call(std::string_view head, const std::vector<Fraction>& args) {
    if (args.empty()) fail("a call without arguments");
    if (head == "Add") return sum(args);
    if (head == "Mul") return product(args);
    if (head == "Pow") return power(args);
    std::vector<Sym> values;
    values.reserve(args.size());
    for (const Fraction& arg : args) values.push_back(whole(arg));
    if (head == "Identity" && values.size() == 1) return {values[0]};
    if (head == "TruncToFloat" && values.size() == 1) {
      return {Sym::call(SymOp::kToFloat, {Sym::call(SymOp::kTruncToInt, values)})};
    }
    for (const Head& known : kHeads) {
      if (known.name == head) return {Sym::call(known.op, std::move(values))};
    }
    if (head.starts_with(kUnaryPrefix) && values.size() == 1) {
      return {Sym::call(SymOp::kUnary, std::move(values), head.substr(kUnaryPrefix.size()))};
    }
    fail(in_quotes(head) + " is not a known function");
  }

  static Fraction sum(const std::vector<Fraction>& args) {
    Fraction out = args[0];
    for (size_t i = 1; i < args.size(); ++i) {
      if (out.under == args[i].under) {
        out.over = out.over + args[i].over;
      } else {
        out.over = out.over * args[i].under + args[i].over * out.under;
        out.under = out.under * args[i].under;
      }
    }
    return out;
  }

  static Fraction product(const std::vector<Fraction>& args) {
    Fraction out = args[0];
    for (size_t i = 1; i < args.size(); ++i) {
      out.over = out.over * args[i].over;
      out.under = out.under * args[i].under;
    }
    return out;
  }

  Fraction power(const std::vector<Fraction>& args) {
    if (args.size() != 2) fail("Pow takes two arguments");
    const Sym exponent = whole(args[1]);
    const auto raise = [](const Sym& base, const Sym& by) {
      return Sym::call(SymOp::kPow, {base, by});
    };
    if (exponent.is_int() && exponent.as_int() < 0) {
      if (exponent.as_int() < -kDeepest) fail("an exponent is too low");
      const Sym by(-exponent.as_int());
      return {raise(args[0].under, by), raise(args[0].over, by)};
    }
    return {raise(args[0].over, exponent), raise(args[0].under, exponent)};
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool in_order_ = false;  // What is read next is an operand of <, <=, > or >=.
};

}  // namespace

Sym parse_srepr(std::string_view text) { return Parser(text).parse(); }

}  // namespace taper::exir
