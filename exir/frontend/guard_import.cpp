// Recursive descent over the Python text of a guard. Sizes are those of the graph's inputs, so what
// comes out is a condition on the program's symbols.

#include "exir/frontend/guard_import.h"

#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

#include "exir/frontend/refuse.h"
#include "exir/ir/sym_expr.h"

namespace taper::exir {
namespace {

constexpr int kDeepest = 64;

struct Operator {
  std::string_view text;  // A longer one stands before its beginning.
  SymOp op;
};
constexpr Operator kComparisons[] = {{"==", SymOp::kEq}, {"!=", SymOp::kNe}, {"<=", SymOp::kLe},
                                     {">=", SymOp::kGe}, {"<", SymOp::kLt},  {">", SymOp::kGt}};
constexpr Operator kBits[] = {{"&", SymOp::kBitAnd}, {"^", SymOp::kBitXor}, {"|", SymOp::kBitOr}};
constexpr Operator kShifts[] = {{"<<", SymOp::kLShift}, {">>", SymOp::kRShift}};
constexpr Operator kSums[] = {{"+", SymOp::kAdd}, {"-", SymOp::kAdd}};
constexpr Operator kProducts[] = {
    {"//", SymOp::kFloorDiv}, {"*", SymOp::kMul}, {"/", SymOp::kTrueDiv}, {"%", SymOp::kPythonMod}};

struct Function {
  std::string_view name;
  SymOp op;
  size_t least, most;
};
constexpr Function kFunctions[] = {
    {"max", SymOp::kMax, 1, 64},
    {"min", SymOp::kMin, 1, 64},
    {"Max", SymOp::kMax, 1, 64},
    {"Min", SymOp::kMin, 1, 64},
    {"FloorDiv", SymOp::kFloorDiv, 2, 2},
    {"CleanDiv", SymOp::kFloorDiv, 2, 2},
    {"CeilDiv", SymOp::kCeilDiv, 2, 2},
    {"Mod", SymOp::kMod, 2, 2},
    {"PythonMod", SymOp::kPythonMod, 2, 2},
    {"ModularIndexing", SymOp::kModularIndexing, 3, 3},
    {"float", SymOp::kToFloat, 1, 1},
    {"torch.sym_float", SymOp::kToFloat, 1, 1},
    {"int", SymOp::kTruncToInt, 1, 1},
    {"round", SymOp::kRoundToInt, 1, 1},
    {"math.floor", SymOp::kFloorToInt, 1, 1},
    {"math.ceil", SymOp::kCeilToInt, 1, 1},
    {"math.trunc", SymOp::kTruncToInt, 1, 1},
};

class Parser {
 public:
  Parser(std::string_view text, const InputByName& input) : text_(text), input_(input) {}

  Sym parse() {
    Sym out = any_of();
    skip_space();
    if (at_ != text_.size()) fail("something follows its end");
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    refuse("bad-guard", "the guard " + in_quotes(text_) + " cannot be read: " + why);
  }

  // --- Tokens
  static bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool sees(std::string_view token) {
    skip_space();
    return text_.substr(at_, token.size()) == token;
  }
  bool take(std::string_view token) {
    if (!sees(token)) return false;
    at_ += token.size();
    return true;
  }
  // A word, and not the beginning of a longer one.
  bool take_word(std::string_view word) {
    if (!sees(word)) return false;
    const size_t end = at_ + word.size();
    return (end == text_.size() || !is_name(text_[end])) && take(word);
  }
  void expect(std::string_view token) {
    if (!take(token)) fail("'" + std::string(token) + "' is missing");
  }
  std::string_view word(bool dots) {
    skip_space();
    const size_t start = at_;
    while (at_ < text_.size() && (is_name(text_[at_]) || (dots && text_[at_] == '.'))) ++at_;
    return text_.substr(start, at_ - start);
  }
  template <size_t kCount>
  const Operator* take_one(const Operator (&operators)[kCount]) {
    for (const Operator& each : operators) {
      if (take(each.text)) return &each;
    }
    return nullptr;
  }

  // --- Grammar
  Sym any_of() {
    if (++depth_ > kDeepest) fail("it is nested too deeply");
    Sym out = all_of();
    while (take_word("or")) out = Sym::call(SymOp::kOr, {out, all_of()});
    --depth_;
    return out;
  }
  Sym all_of() {
    Sym out = negation();
    while (take_word("and")) out = Sym::call(SymOp::kAnd, {out, negation()});
    return out;
  }
  Sym negation() {
    if (!take_word("not")) return comparison();
    if (++depth_ > kDeepest) fail("it is nested too deeply");
    Sym out = Sym::call(SymOp::kNot, {negation()});
    --depth_;
    return out;
  }
  // a < b < c means what it means in Python: both.
  Sym comparison() {
    Sym left = bits();
    const Operator* op = take_one(kComparisons);
    if (op == nullptr) return left;
    std::vector<Sym> links;
    for (; op != nullptr; op = take_one(kComparisons)) {
      const Sym right = bits();
      links.push_back(Sym::call(op->op, {left, right}));
      left = right;
    }
    return links.size() == 1 ? links[0] : Sym::call(SymOp::kAnd, links);
  }
  // Operators of one precedence, from the left.
  template <size_t kCount>
  Sym chain(const Operator (&operators)[kCount], Sym (Parser::*operand)()) {
    Sym out = (this->*operand)();
    while (const Operator* op = take_one(operators)) {
      out = Sym::call(op->op, {out, (this->*operand)()});
    }
    return out;
  }
  Sym bits() { return chain(kBits, &Parser::shift); }
  Sym shift() { return chain(kShifts, &Parser::sum); }
  Sym sum() {
    Sym out = product();
    while (const Operator* op = take_one(kSums)) {
      const Sym right = product();
      out = op->text == "-" ? out - right : out + right;
    }
    return out;
  }
  Sym product() { return chain(kProducts, &Parser::sign); }
  Sym sign() {
    if (++depth_ > kDeepest) fail("it is nested too deeply");
    const bool negative = take("-");
    Sym out = negative ? Sym(-1) * sign() : take("+") ? sign() : power();
    --depth_;
    return out;
  }
  Sym power() {
    Sym out = primary();
    if (!take("**")) return out;
    const Sym exponent = sign();
    return Sym::call(is_real(out) || is_real(exponent) ? SymOp::kFloatPow : SymOp::kPow,
                     {out, exponent});
  }

  Sym primary() {
    if (take("(")) return bracketed();
    if (take_word("True")) return Sym(1);
    if (take_word("False")) return Sym(0);
    skip_space();
    if (at_ < text_.size() &&
        (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.')) {
      return number();
    }
    if (take_word("L")) return input();
    return call();
  }

  Sym bracketed() {
    Sym out = any_of();
    if (take_word("if")) {
      const Sym condition = any_of();
      if (!take_word("else")) fail("'else' is missing");
      out = Sym::call(SymOp::kWhere, {condition, out, any_of()});
    }
    expect(")");
    return out;
  }

  Sym number() {
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    int64_t whole = 0;
    const auto integer = std::from_chars(begin, end, whole);
    double real = 0;
    const auto floating = std::from_chars(begin, end, real);
    if (floating.ec != std::errc()) fail("a number is expected");
    at_ = static_cast<size_t>(floating.ptr - text_.data());
    if (integer.ec == std::errc() && integer.ptr == floating.ptr) return Sym(whole);
    return Sym::from_float(real);
  }

  Sym call() {
    const std::string_view name = word(true);
    if (name.empty()) fail("a value is expected");
    expect("(");
    std::vector<Sym> args = {any_of()};
    while (take(",")) args.push_back(any_of());
    expect(")");
    for (const Function& each : kFunctions) {
      if (each.name != name || args.size() < each.least || args.size() > each.most) continue;
      return Sym::call(each.op, std::move(args));
    }
    if (name == "abs" && args.size() == 1) {
      return Sym::call(SymOp::kMax, {args[0], Sym(-1) * args[0]});
    }
    const std::string_view opaque = "OpaqueUnaryFn_", math = "math.", torch = "torch._sym_";
    for (const std::string_view prefix : {opaque, math, torch}) {
      if (name.starts_with(prefix) && args.size() == 1) {
        return Sym::call(SymOp::kUnary, std::move(args), name.substr(prefix.size()));
      }
    }
    fail(in_quotes(name) + " is no function of sizes");
  }

  // What stands behind L: an input and what is asked of it.
  Sym input() {
    std::string name;
    while (true) {
      if (take("[")) {
        name += (name.empty() ? "" : "_") + key();
        expect("]");
      } else if (sees(".") && !sees(".size()")) {
        ++at_;
        name += "_" + as_input_name(word(false));
        if (sees("(")) fail(in_quotes(text_.substr(0, at_)) + " is no size");
      } else {
        break;
      }
    }
    const Value* value = input_(name);
    if (value == nullptr) fail("there is no input " + in_quotes(name));
    if (!take(".size()")) {
      if (value->kind == ValueKind::kTensor) fail("input " + in_quotes(name) + " is a tensor");
      return value->sym;
    }
    expect("[");
    const Sym dim = number();
    expect("]");
    const TensorSizes& sizes = value->type.sizes;
    if (!dim.is_int() || value->kind != ValueKind::kTensor || dim.as_int() < 0 ||
        static_cast<size_t>(dim.as_int()) >= sizes.size()) {
      fail("input " + in_quotes(name) + " has no such dimension");
    }
    return sizes[static_cast<size_t>(dim.as_int())];
  }

  // A number or a text in quotes.
  std::string key() {
    skip_space();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      return std::string(word(false));
    }
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("a key is expected");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) fail("a quotation mark is missing");
    const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return as_input_name(text);
  }

  static std::string as_input_name(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
      const auto code = static_cast<unsigned char>(c);
      c = std::isalnum(code) ? static_cast<char>(std::tolower(code)) : '_';
    }
    return out;
  }

  std::string_view text_;
  const InputByName& input_;
  size_t at_ = 0;
  int depth_ = 0;
};

// "L['x'].size()[0] > 3" as a person would write it: "x.size()[0] > 3", in one line.
std::string readable(std::string_view code) {
  std::string out;
  for (size_t i = 0; i < code.size(); ++i) {
    const bool is_start = code.substr(i, 3) == "L['" && (i == 0 || code[i - 1] != '_');
    const size_t end = is_start ? code.find("']", i) : code.npos;
    if (end == code.npos) {
      out += static_cast<unsigned char>(code[i]) < ' ' ? ' ' : code[i];
    } else {
      out += code.substr(i + 3, end - i - 3);
      i = end + 1;
    }
  }
  return out;
}

}  // namespace

Guard parse_guard(std::string_view code, const InputByName& input) {
  return {Parser(code, input).parse(), readable(code)};
}

}  // namespace taper::exir
