// Sym: canonical forms.
//
// Integer sums and products become a polynomial: a map from a monomial (the sorted texts of its
// atoms, repeated for powers) to its coefficient. An atom is a symbol or an opaque call. Size and
// depth of what is built are bounded, so that a hostile file cannot make them explode.

#include "exir/ir/sym.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "exir/ir/failure.h"
#include "exir/ir/sym_expr.h"

namespace taper::exir {
namespace {

constexpr size_t kMaxText = 1 << 14;
constexpr size_t kMaxTerms = 256;
constexpr int kMaxDepth = 100;

struct Poly {
  std::map<std::vector<std::string>, int64_t> terms;
  std::map<std::string, Sym> atoms;
};

int64_t checked_add(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_add_overflow(a, b, &out)) throw Failure("a size expression overflows 64 bits");
  return out;
}

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_mul_overflow(a, b, &out)) throw Failure("a size expression overflows 64 bits");
  return out;
}

void add_term(Poly& poly, std::vector<std::string> monomial, int64_t coefficient) {
  auto [it, inserted] = poly.terms.try_emplace(std::move(monomial), 0);
  it->second = checked_add(it->second, coefficient);
  if (it->second == 0) poly.terms.erase(it);
  if (poly.terms.size() > kMaxTerms) throw Failure("a size expression has too many terms");
}

void add_poly(Poly& to, const Poly& from, int64_t factor) {
  for (const auto& [monomial, c] : from.terms) add_term(to, monomial, checked_mul(c, factor));
  to.atoms.insert(from.atoms.begin(), from.atoms.end());
}

Poly multiply(const Poly& a, const Poly& b) {
  Poly out;
  for (const auto& [ma, ca] : a.terms) {
    for (const auto& [mb, cb] : b.terms) {
      std::vector<std::string> monomial = ma;
      monomial.insert(monomial.end(), mb.begin(), mb.end());
      std::sort(monomial.begin(), monomial.end());
      if (monomial.size() > kMaxTerms) throw Failure("a size expression has too high a power");
      add_term(out, std::move(monomial), checked_mul(ca, cb));
    }
  }
  out.atoms = a.atoms;
  out.atoms.insert(b.atoms.begin(), b.atoms.end());
  return out;
}

Poly to_poly(const Sym& sym) {
  Poly out;
  if (sym.is_int()) {
    if (sym.as_int() != 0) out.terms[{}] = sym.as_int();
  } else if (sym.op() == SymOp::kAdd) {
    for (const Sym& term : sym.args()) add_poly(out, to_poly(term), 1);
  } else if (sym.op() == SymOp::kMul) {
    out.terms[{}] = 1;
    for (const Sym& factor : sym.args()) out = multiply(out, to_poly(factor));
  } else {
    out.terms[{sym.text()}] = 1;
    out.atoms.emplace(sym.text(), sym);
  }
  return out;
}

// The text of an operand of * or //, in brackets if necessary.
std::string factor_text(const Sym& sym) {
  const bool compound = sym.op() == SymOp::kAdd || sym.op() == SymOp::kMul ||
                        sym.op() == SymOp::kFloorDiv || (sym.is_int() && sym.as_int() < 0);
  return compound ? "(" + sym.text() + ")" : sym.text();
}

std::string product_text(const std::vector<Sym>& factors) {
  std::string out;
  const bool negated = factors[0].is_int() && factors[0].as_int() == -1;
  for (size_t i = negated; i < factors.size(); ++i) {
    const bool leading_number = i == 0 && factors[0].is_int();
    if (i != negated) out += "*";
    out += leading_number ? factors[0].text() : factor_text(factors[i]);
  }
  return negated ? "-" + out : out;
}

std::string sum_text(const std::vector<Sym>& terms) {
  std::string out = terms[0].text();
  for (size_t i = 1; i < terms.size(); ++i) {
    const std::string& text = terms[i].text();
    out += text[0] == '-' ? " - " + text.substr(1) : " + " + text;
  }
  return out;
}

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string out(buffer.data(), end);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string call_text(const Sym::Expr& expr) {
  std::string out(expr.op == SymOp::kUnary ? std::string_view(expr.name) : sym_op_name(expr.op));
  out += "(";
  for (size_t i = 0; i < expr.args.size(); ++i) {
    if (i != 0) out += ", ";
    out += expr.args[i].text();
  }
  return out + ")";
}

std::string text_of(const Sym::Expr& expr) {
  switch (expr.op) {
    case SymOp::kInt:
      return std::to_string(expr.number);
    case SymOp::kFloat:
      return real_text(expr.real);
    case SymOp::kSymbol:
      return expr.name;
    case SymOp::kAdd:
      return sum_text(expr.args);
    case SymOp::kMul:
      return product_text(expr.args);
    case SymOp::kFloorDiv:
      return factor_text(expr.args[0]) + "//" + factor_text(expr.args[1]);
    default:
      return call_text(expr);
  }
}

std::shared_ptr<const Sym::Expr> finish(Sym::Expr expr) {
  for (const Sym& arg : expr.args) {
    if (arg.text().size() > kMaxText) throw Failure("a size expression is too long");
  }
  expr.text = text_of(expr);
  if (expr.text.size() > kMaxText) throw Failure("a size expression is too long");
  return std::make_shared<const Sym::Expr>(std::move(expr));
}

bool is_identifier(std::string_view name) {
  if (name.empty() || name.size() > 64 || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

bool is_bool_op(SymOp op) { return op >= SymOp::kEq; }

}  // namespace

Sym::Sym(const Sym&) = default;
Sym::Sym(Sym&&) noexcept = default;
Sym& Sym::operator=(const Sym&) = default;
Sym& Sym::operator=(Sym&&) noexcept = default;
Sym::~Sym() = default;
Sym::Sym(int64_t value) {
  static const auto* small = [] {
    auto* table = new std::array<std::shared_ptr<const Expr>, 64>;
    for (size_t i = 0; i < table->size(); ++i) {
      (*table)[i] = finish({SymOp::kInt, static_cast<int64_t>(i), 0, {}, {}, {}, 0});
    }
    return table;
  }();
  const bool is_small = value >= 0 && value < 64;
  expr_ = is_small ? (*small)[static_cast<size_t>(value)]
                   : finish({SymOp::kInt, value, 0, {}, {}, {}, 0});
}

Sym Sym::from_float(double value) { return Sym(finish({SymOp::kFloat, 0, value, {}, {}, {}, 0})); }

Sym Sym::symbol(std::string_view name) {
  if (!is_identifier(name) || name == "inf" || name == "nan") {
    throw Failure("\"" + std::string(name.substr(0, 80)) + "\" is not a valid name for a symbol");
  }
  return Sym(finish({SymOp::kSymbol, 0, 0, std::string(name), {}, {}, 0}));
}

SymOp Sym::op() const { return expr_->op; }
int64_t Sym::as_int() const {
  if (!is_int()) throw Failure("the size " + text() + " is not known before the program runs");
  return expr_->number;
}
double Sym::as_float() const { return expr_->real; }
const std::string& Sym::name() const { return expr_->name; }
const std::vector<Sym>& Sym::args() const { return expr_->args; }
const std::string& Sym::text() const { return expr_->text; }

bool is_real(const Sym& sym) {
  switch (sym.op()) {
    case SymOp::kFloat:
    case SymOp::kTrueDiv:
    case SymOp::kToFloat:
    case SymOp::kFloatMul:
    case SymOp::kFloatAdd:
    case SymOp::kFloatPow:
    case SymOp::kUnary:
      return true;
    case SymOp::kSymbol:
      return sym.name()[0] == 'z';
    case SymOp::kMax:
    case SymOp::kMin:
    case SymOp::kWhere: {
      const std::vector<Sym>& args = sym.args();
      return std::any_of(args.begin() + (sym.op() == SymOp::kWhere), args.end(), is_real);
    }
    default:
      return false;
  }
}

// Builds canonical forms; calls that stay opaque are made by `opaque`, which call() passes in.
namespace {

using Opaque = Sym (*)(SymOp, std::vector<Sym>, std::string_view);

Sym from_poly(const Poly& poly, Opaque opaque) {
  std::vector<Sym> terms;
  int64_t constant = 0;
  for (const auto& [monomial, c] : poly.terms) {
    if (monomial.empty()) {
      constant = c;
      continue;
    }
    std::vector<Sym> factors;
    if (c != 1) factors.push_back(Sym(c));
    for (const std::string& atom : monomial) factors.push_back(poly.atoms.at(atom));
    terms.push_back(factors.size() == 1 ? factors[0] : opaque(SymOp::kMul, factors, {}));
  }
  if (constant != 0 || terms.empty()) terms.push_back(Sym(constant));
  return terms.size() == 1 ? terms[0] : opaque(SymOp::kAdd, terms, {});
}

int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == -1) return checked_mul(a, -1);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

// Splits a = c * quotient + rest, where the coefficients of rest lie in [0, c).
void divide_poly(const Poly& a, int64_t c, Poly* quotient, Poly* rest) {
  quotient->atoms = rest->atoms = a.atoms;
  for (const auto& [monomial, coefficient] : a.terms) {
    const int64_t q = floor_quotient(coefficient, c);
    if (q != 0) add_term(*quotient, monomial, q);
    if (coefficient - q * c != 0) add_term(*rest, monomial, coefficient - q * c);
  }
}

// a / b when every term of a holds every atom of the single term b; nullopt otherwise.
std::optional<Poly> exact_quotient(const Poly& a, const Poly& b) {
  if (b.terms.size() != 1 || a.terms.empty()) return std::nullopt;
  const auto& [divisor, c] = *b.terms.begin();
  Poly out;
  out.atoms = a.atoms;
  for (const auto& [monomial, coefficient] : a.terms) {
    if (c == 0 || (c == -1 && coefficient == INT64_MIN) || coefficient % c != 0) return {};
    if (!std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end())) return {};
    std::vector<std::string> left;
    std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(),
                        std::back_inserter(left));
    add_term(out, std::move(left), coefficient / c);
  }
  return out;
}

Sym make_floor_div(const Sym& a, const Sym& b, Opaque opaque) {
  const Poly pa = to_poly(a), pb = to_poly(b);
  if (pa.terms.empty() && !(b.is_int() && b.as_int() == 0)) return Sym(0);
  if (a == b) return Sym(1);
  if (b.is_int() && b.as_int() > 0) {
    Poly quotient, rest;
    divide_poly(pa, b.as_int(), &quotient, &rest);
    const Sym tail = from_poly(rest, opaque);
    const Sym whole = from_poly(quotient, opaque);
    if (tail.is_int()) return whole + Sym(floor_quotient(tail.as_int(), b.as_int()));
    return whole + opaque(SymOp::kFloorDiv, {tail, b}, {});
  }
  if (const auto exact = exact_quotient(pa, pb)) return from_poly(*exact, opaque);
  return opaque(SymOp::kFloorDiv, {a, b}, {});
}

Sym make_mod(const Sym& a, const Sym& b, Opaque opaque) {
  if (a == b || (b.is_int() && b.as_int() == 1)) return Sym(0);
  if (b.is_int() && b.as_int() > 1) {
    Poly quotient, rest;
    divide_poly(to_poly(a), b.as_int(), &quotient, &rest);
    Sym tail = from_poly(rest, opaque);
    if (tail.is_int()) return tail;
    return opaque(SymOp::kMod, {tail, b}, {});
  }
  if (exact_quotient(to_poly(a), to_poly(b))) return Sym(0);
  return opaque(SymOp::kMod, {a, b}, {});
}

// max, min, and, or: nested calls of the same kind are merged, duplicates dropped, and arguments
// sorted by text.
Sym make_sorted(SymOp op, const std::vector<Sym>& args, Opaque opaque) {
  std::map<std::string, Sym> items;
  std::optional<int64_t> known;
  for (const Sym& arg : args) {
    const bool nested = arg.op() == op;
    for (const Sym& item : nested ? arg.args() : std::vector<Sym>{arg}) {
      if (!item.is_int()) {
        items.emplace(item.text(), item);
      } else if (!known) {
        known = item.as_int();
      } else {
        const bool less = item.as_int() < *known;
        if (less == (op == SymOp::kMin || op == SymOp::kAnd)) known = item.as_int();
      }
    }
  }
  if (known && op == SymOp::kAnd && *known != 0) known.reset();
  if (known && op == SymOp::kOr && *known == 0) known.reset();
  if (known && (op == SymOp::kAnd || op == SymOp::kOr)) return Sym(*known != 0);
  std::vector<Sym> out;
  if (known) out.push_back(Sym(*known));
  for (auto& [text, item] : items) out.push_back(item);
  if (out.empty()) return Sym(op == SymOp::kAnd);
  return out.size() == 1 ? out[0] : opaque(op, std::move(out), {});
}

Sym make_pow(const Sym& base, const Sym& exponent, Opaque opaque) {
  if (!exponent.is_int() || exponent.as_int() < 0 || exponent.as_int() > 32) {
    return opaque(SymOp::kPow, {base, exponent}, {});
  }
  Sym out(1);
  for (int64_t i = 0; i < exponent.as_int(); ++i) out = out * base;
  return out;
}

std::optional<SymNumber> known_number(const Sym& sym) {
  if (sym.is_int()) return SymNumber{false, sym.as_int(), 0};
  if (sym.is_float()) return SymNumber{true, 0, sym.as_float()};
  return std::nullopt;
}

// The value of a call whose arguments are all numbers. Throws if integers overflow.
std::optional<Sym> fold(SymOp op, const std::vector<Sym>& args, std::string_view name) {
  std::vector<SymNumber> numbers;
  for (const Sym& arg : args) {
    const auto number = known_number(arg);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  const auto value = apply_sym(op, numbers, name);
  if (!value) return std::nullopt;
  return value->real ? Sym::from_float(value->d) : Sym(value->i);
}

Sym make_sum_or_product(SymOp op, const std::vector<Sym>& args, Opaque opaque) {
  Poly out;
  if (op == SymOp::kMul) out.terms[{}] = 1;
  for (const Sym& arg : args) {
    if (op == SymOp::kAdd) add_poly(out, to_poly(arg), 1);
    if (op == SymOp::kMul) out = multiply(out, to_poly(arg));
  }
  return from_poly(out, opaque);
}

}  // namespace

Sym Sym::call(SymOp op, std::vector<Sym> args, std::string_view name) {
  const auto [least, most] = sym_op_arity(op);
  if (args.size() < least || args.size() > most) {
    throw Failure("a size expression calls " + std::string(sym_op_name(op)) + " with " +
                  std::to_string(args.size()) + " arguments");
  }
  if (op == SymOp::kUnary && (!is_identifier(name) || sym_op_of(name))) {
    throw Failure("a size expression calls an unknown function");
  }
  const Opaque opaque = [](SymOp made, std::vector<Sym> items, std::string_view called) {
    int depth = 0;
    for (const Sym& item : items) depth = std::max(depth, item.expr_->depth);
    if (depth >= kMaxDepth) throw Failure("a size expression is nested too deeply");
    return Sym(finish({made, 0, 0, std::string(called), std::move(items), {}, depth + 1}));
  };
  const bool real = std::any_of(args.begin(), args.end(), is_real);
  if (real && op == SymOp::kAdd) op = SymOp::kFloatAdd;
  if (real && op == SymOp::kMul) op = SymOp::kFloatMul;
  if (!real && (op == SymOp::kAdd || op == SymOp::kMul)) {
    return make_sum_or_product(op, args, opaque);
  }
  if (const auto value = fold(op, args, name)) return *value;
  switch (op) {
    case SymOp::kFloorDiv:
      return real ? opaque(op, args, {}) : make_floor_div(args[0], args[1], opaque);
    case SymOp::kCeilDiv: {
      const bool positive = args[1].is_int() && args[1].as_int() > 0;
      if (positive) return floor_div(args[0] + args[1] - Sym(1), args[1]);
      return Sym(0) - floor_div(Sym(0) - args[0], args[1]);
    }
    case SymOp::kMod:
    case SymOp::kPythonMod:
      return real ? opaque(SymOp::kMod, args, {}) : make_mod(args[0], args[1], opaque);
    case SymOp::kModularIndexing:
      return mod(floor_div(args[0], args[1]), args[2]);
    case SymOp::kMax:
    case SymOp::kMin:
    case SymOp::kAnd:
    case SymOp::kOr:
      return make_sorted(op, args, opaque);
    case SymOp::kPow:
      return make_pow(args[0], args[1], opaque);
    case SymOp::kWhere:
      if (args[0].is_int()) return args[0].as_int() != 0 ? args[1] : args[2];
      return opaque(op, args, {});
    case SymOp::kToFloat:
      return is_real(args[0]) ? args[0] : opaque(op, args, {});
    case SymOp::kTruncToInt:
    case SymOp::kFloorToInt:
    case SymOp::kCeilToInt:
    case SymOp::kRoundToInt:
      if (!is_real(args[0])) return args[0];
      if (args[0].op() == SymOp::kToFloat) return args[0].args()[0];
      return opaque(op, args, {});
    case SymOp::kLShift:
      if (args[1].is_int() && args[1].as_int() >= 0 && args[1].as_int() < 62) {
        return args[0] * Sym(int64_t{1} << args[1].as_int());
      }
      return opaque(op, args, {});
    case SymOp::kRShift:
      if (args[1].is_int() && args[1].as_int() >= 0 && args[1].as_int() < 62) {
        return floor_div(args[0], Sym(int64_t{1} << args[1].as_int()));
      }
      return opaque(op, args, {});
    default:
      break;
  }
  if (is_bool_op(op) && args.size() == 2 && args[0] == args[1]) {
    return Sym(op == SymOp::kEq || op == SymOp::kLe || op == SymOp::kGe);
  }
  return opaque(op, std::move(args), name);
}

Sym operator+(const Sym& a, const Sym& b) {
  if (a.is_int() && b.is_int()) return Sym(checked_add(a.as_int(), b.as_int()));
  return Sym::call(SymOp::kAdd, {a, b});
}
Sym operator-(const Sym& a, const Sym& b) {
  const Sym minus_one = is_real(b) ? Sym::from_float(-1) : Sym(-1);
  return a + minus_one * b;
}
Sym operator*(const Sym& a, const Sym& b) {
  if (a.is_int() && b.is_int()) return Sym(checked_mul(a.as_int(), b.as_int()));
  return Sym::call(SymOp::kMul, {a, b});
}
Sym floor_div(const Sym& a, const Sym& b) { return Sym::call(SymOp::kFloorDiv, {a, b}); }
Sym mod(const Sym& a, const Sym& b) { return Sym::call(SymOp::kMod, {a, b}); }
Sym max(const Sym& a, const Sym& b) { return Sym::call(SymOp::kMax, {a, b}); }
Sym min(const Sym& a, const Sym& b) { return Sym::call(SymOp::kMin, {a, b}); }

}  // namespace taper::exir
