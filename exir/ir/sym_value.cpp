// Sym: evaluation, bounds, and the set of symbols.

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "exir/ir/sym_expr.h"

namespace taper::exir {
namespace {

using Number = SymNumber;

std::optional<Number> whole(int64_t value) { return Number{false, value, 0}; }
std::optional<Number> real(double value) { return Number{true, 0, value}; }

std::optional<Number> to_whole(double value) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) return std::nullopt;
  return whole(static_cast<int64_t>(value));
}

std::optional<Number> floor_divide(int64_t a, int64_t b, bool remainder) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  int64_t q = a / b, r = a % b;
  if (r != 0 && (r < 0) != (b < 0)) {
    q -= 1;
    r += b;
  }
  return whole(remainder ? r : q);
}

std::optional<Number> integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return std::nullopt;
  int64_t out = 1;
  for (int64_t i = 0; i < exponent; ++i) {
    if (base == 0 || base == 1) return whole(base);
    if (base == -1) return whole(exponent % 2 == 0 ? 1 : -1);
    if (__builtin_mul_overflow(out, base, &out)) return std::nullopt;
  }
  return whole(out);
}

std::optional<Number> add_or_multiply(const std::vector<Number>& args, bool product) {
  Number out{false, product, product ? 1.0 : 0.0};
  for (const Number& arg : args) {
    if (out.real || arg.real) {
      const double left = out.to_double(), right = arg.to_double();
      out = {true, 0, product ? left * right : left + right};
    } else if (product ? __builtin_mul_overflow(out.i, arg.i, &out.i)
                       : __builtin_add_overflow(out.i, arg.i, &out.i)) {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<Number> shift(int64_t a, int64_t by, bool left) {
  if (by < 0 || by > 62) return std::nullopt;
  if (!left) return whole(a >> by);
  int64_t out;
  if (__builtin_mul_overflow(a, int64_t{1} << by, &out)) return std::nullopt;
  return whole(out);
}

bool less(const Number& a, const Number& b) {
  return a.real || b.real ? a.to_double() < b.to_double() : a.i < b.i;
}

std::optional<Number> unary(std::string_view name, double x) {
  struct Entry {
    std::string_view name;
    double (*function)(double);
  };
  static constexpr Entry kFunctions[] = {
      {"sqrt", std::sqrt}, {"cos", std::cos},     {"cosh", std::cosh},        {"sin", std::sin},
      {"sinh", std::sinh}, {"tan", std::tan},     {"tanh", std::tanh},        {"asin", std::asin},
      {"acos", std::acos}, {"atan", std::atan},   {"exp", std::exp},          {"log", std::log},
      {"log2", std::log2}, {"asinh", std::asinh}, {"trunc_float", std::trunc}};
  for (const Entry& entry : kFunctions) {
    if (entry.name == name) return real(entry.function(x));
  }
  return std::nullopt;
}

bool truth(const Number& n) { return n.real ? n.d != 0 : n.i != 0; }

std::optional<Number> logic(SymOp op, const std::vector<Number>& args) {
  if (op == SymOp::kNot) return whole(!truth(args[0]));
  bool out = op == SymOp::kAnd;
  for (const Number& arg : args) out = op == SymOp::kAnd ? out && truth(arg) : out || truth(arg);
  return whole(out);
}

}  // namespace

std::optional<SymNumber> apply_sym(SymOp op, const std::vector<Number>& args,
                                   std::string_view name) {
  const Number a = args.empty() ? Number{} : args[0];
  const Number b = args.size() < 2 ? Number{} : args[1];
  switch (op) {
    case SymOp::kAdd:
    case SymOp::kFloatAdd:
      return add_or_multiply(args, false);
    case SymOp::kMul:
    case SymOp::kFloatMul:
      return add_or_multiply(args, true);
    case SymOp::kFloorDiv:
      if (!a.real && !b.real) return floor_divide(a.i, b.i, false);
      return b.to_double() == 0 ? std::nullopt : real(std::floor(a.to_double() / b.to_double()));
    case SymOp::kCeilDiv: {
      if (a.real || b.real || a.i == INT64_MIN) return std::nullopt;
      const auto down = floor_divide(-a.i, b.i, false);
      if (!down || down->i == INT64_MIN) return std::nullopt;
      return whole(-down->i);
    }
    case SymOp::kMod:
    case SymOp::kPythonMod:
      if (!a.real && !b.real) return floor_divide(a.i, b.i, true);
      return std::nullopt;
    case SymOp::kModularIndexing: {
      const auto q = a.real || b.real ? std::nullopt : floor_divide(a.i, b.i, false);
      return q ? floor_divide(q->i, args[2].i, true) : std::nullopt;
    }
    case SymOp::kMax:
      return *std::max_element(args.begin(), args.end(), less);
    case SymOp::kMin:
      return *std::min_element(args.begin(), args.end(), less);
    case SymOp::kPow:
      if (!a.real && !b.real) return integer_power(a.i, b.i);
      return real(std::pow(a.to_double(), b.to_double()));
    case SymOp::kFloatPow:
      return real(std::pow(a.to_double(), b.to_double()));
    case SymOp::kWhere:
      return truth(a) ? b : args[2];
    case SymOp::kTrueDiv:
      return b.to_double() == 0 ? std::nullopt : real(a.to_double() / b.to_double());
    case SymOp::kToFloat:
      return real(a.to_double());
    case SymOp::kTruncToInt:
      return a.real ? to_whole(std::trunc(a.d)) : a;
    case SymOp::kFloorToInt:
      return a.real ? to_whole(std::floor(a.d)) : a;
    case SymOp::kCeilToInt:
      return a.real ? to_whole(std::ceil(a.d)) : a;
    case SymOp::kRoundToInt:
      return a.real ? to_whole(std::nearbyint(a.d)) : a;
    case SymOp::kLShift:
    case SymOp::kRShift:
      return a.real || b.real ? std::nullopt : shift(a.i, b.i, op == SymOp::kLShift);
    case SymOp::kBitAnd:
      return a.real || b.real ? std::nullopt : whole(a.i & b.i);
    case SymOp::kBitOr:
      return a.real || b.real ? std::nullopt : whole(a.i | b.i);
    case SymOp::kBitXor:
      return a.real || b.real ? std::nullopt : whole(a.i ^ b.i);
    case SymOp::kUnary:
      return unary(name, a.to_double());
    case SymOp::kEq:
      return whole(!less(a, b) && !less(b, a));
    case SymOp::kNe:
      return whole(less(a, b) || less(b, a));
    case SymOp::kLt:
      return whole(less(a, b));
    case SymOp::kGt:
      return whole(less(b, a));
    case SymOp::kLe:
      return whole(!less(b, a));
    case SymOp::kGe:
      return whole(!less(a, b));
    case SymOp::kAnd:
    case SymOp::kOr:
    case SymOp::kNot:
      return logic(op, args);
    case SymOp::kInt:
    case SymOp::kFloat:
    case SymOp::kSymbol:
      break;
  }
  return std::nullopt;
}

namespace {

std::optional<Number> number_of(const Sym& sym, const SymValues& values) {
  if (sym.is_int()) return whole(sym.as_int());
  if (sym.is_float()) return real(sym.as_float());
  if (sym.is_symbol()) {
    const auto found = values.find(sym.name());
    return found == values.end() ? std::nullopt : whole(found->second);
  }
  std::vector<Number> args;
  for (const Sym& arg : sym.args()) {
    const auto number = number_of(arg, values);
    if (!number) return std::nullopt;
    args.push_back(*number);
  }
  return apply_sym(sym.op(), args, sym.name());
}

// Bounds with infinities. On the host a long double holds every int64 exactly.
struct Interval {
  long double low, high;
};
constexpr long double kInf = std::numeric_limits<long double>::infinity();
constexpr Interval kAll = {-kInf, kInf};

// Floats are rounded as the program rounds them: 1.7 * 10 is 17, though 1.7 is stored as less.
enum class Arithmetic { kWhole, kReal };

long double times(long double a, long double b, Arithmetic how) {
  if (a == 0 || b == 0) return 0;
  return how == Arithmetic::kReal ? static_cast<double>(a) * static_cast<double>(b) : a * b;
}
long double plus(long double a, long double b, Arithmetic how) {
  return how == Arithmetic::kReal ? static_cast<double>(a) + static_cast<double>(b) : a + b;
}

Interval hull(std::initializer_list<long double> corners) {
  Interval out = {kInf, -kInf};
  for (const long double corner : corners) {
    if (std::isnan(corner)) return kAll;
    out = {std::min(out.low, corner), std::max(out.high, corner)};
  }
  return out;
}

Interval product(const Interval& a, const Interval& b, Arithmetic how) {
  return hull({times(a.low, b.low, how), times(a.low, b.high, how), times(a.high, b.low, how),
               times(a.high, b.high, how)});
}

// a / b at one corner; a divisor of infinity gives the limit 0 from the right side.
long double quotient(long double a, long double b, bool floored) {
  if (std::isinf(b)) {
    if (std::isinf(a)) return (a > 0) == (b > 0) ? kInf : -kInf;
    if (!floored || a == 0) return 0;
    return (a > 0) == (b > 0) ? 0 : -1;
  }
  return floored ? std::floor(a / b) : static_cast<double>(a) / static_cast<double>(b);
}

Interval divide(const Interval& a, const Interval& b, bool floored) {
  if (b.low <= 0 && b.high >= 0) {
    // The guards of the export exclude 0, so an integer divisor in [0, n] is in [1, n].
    if (b.low < 0 || b.high < 1 || !floored) return kAll;
    return divide(a, {1, b.high}, floored);
  }
  Interval out = hull({quotient(a.low, b.low, floored), quotient(a.low, b.high, floored),
                       quotient(a.high, b.low, floored), quotient(a.high, b.high, floored)});
  // Infinity over infinity may be anything between the limits.
  if (std::isinf(b.high) || std::isinf(b.low)) {
    out.low = std::min(out.low, a.low < 0 ? -1.0L : 0.0L);
    out.high = std::max(out.high, 0.0L);
  }
  return out;
}

Interval interval_of(const Sym& sym, const SymRanges& ranges);

Interval symbol_interval(const std::string& name, const SymRanges& ranges) {
  const auto found = ranges.find(name);
  if (found == ranges.end()) return name[0] == 's' ? Interval{0, kInf} : kAll;
  const SymRange& range = found->second;
  return {range.min == INT64_MIN ? -kInf : static_cast<long double>(range.min),
          range.max == SymRange::kUnbounded ? kInf : static_cast<long double>(range.max)};
}

Interval modulo(const Interval& a, const Interval& b) {
  if (b.low < 0) return kAll;
  const long double top = b.high - 1;
  if (a.low >= 0 && a.high < b.low) return a;
  return {0, std::max(0.0L, a.low >= 0 ? std::min(top, a.high) : top)};
}

Interval power(const Interval& base, const Interval& exponent) {
  if (base.low < 1 || exponent.low < 0) {
    return base.low >= 0 && exponent.low >= 0 ? Interval{0, kInf} : kAll;
  }
  return {std::pow(base.low, exponent.low), std::pow(base.high, exponent.high)};
}

Interval extreme(const std::vector<Interval>& args, bool highest) {
  Interval out = args[0];
  for (const Interval& arg : args) {
    out.low = highest ? std::max(out.low, arg.low) : std::min(out.low, arg.low);
    out.high = highest ? std::max(out.high, arg.high) : std::min(out.high, arg.high);
  }
  return out;
}

constexpr Interval kTrue = {1, 1}, kFalse = {0, 0}, kEither = {0, 1};

// a < b, or a <= b.
Interval is_below(const Interval& a, const Interval& b, bool or_equal) {
  if (or_equal ? a.high <= b.low : a.high < b.low) return kTrue;
  if (or_equal ? a.low > b.high : a.low >= b.high) return kFalse;
  return kEither;
}

Interval negated(const Interval& a) { return {1 - a.high, 1 - a.low}; }

Interval is_equal(const Interval& a, const Interval& b) {
  if (a.high < b.low || b.high < a.low) return kFalse;
  return a.low == a.high && b.low == b.high ? kTrue : kEither;
}

// 0 or 1 of what counts as true unless it is 0.
Interval truth_of(const Interval& a) {
  if (a.low == 0 && a.high == 0) return kFalse;
  return a.low > 0 || a.high < 0 ? kTrue : kEither;
}

Interval logic_interval(SymOp op, const std::vector<Interval>& args) {
  if (op == SymOp::kNot) return negated(truth_of(args[0]));
  std::vector<Interval> truths;
  for (const Interval& arg : args) truths.push_back(truth_of(arg));
  return extreme(truths, op == SymOp::kOr);
}

Interval call_interval(SymOp op, const std::vector<Interval>& args) {
  const bool real = op == SymOp::kFloatAdd || op == SymOp::kFloatMul;
  const Arithmetic how = real ? Arithmetic::kReal : Arithmetic::kWhole;
  switch (op) {
    case SymOp::kAdd:
    case SymOp::kFloatAdd: {
      Interval out = {0, 0};
      for (const Interval& arg : args) {
        out = {plus(out.low, arg.low, how), plus(out.high, arg.high, how)};
      }
      return out;
    }
    case SymOp::kMul:
    case SymOp::kFloatMul: {
      Interval out = {1, 1};
      for (const Interval& arg : args) out = product(out, arg, how);
      return out;
    }
    case SymOp::kFloorDiv:
      return divide(args[0], args[1], true);
    case SymOp::kTrueDiv:
      return divide(args[0], args[1], false);
    case SymOp::kMod:
      return modulo(args[0], args[1]);
    case SymOp::kMax:
      return extreme(args, true);
    case SymOp::kMin:
      return extreme(args, false);
    case SymOp::kPow:
      return power(args[0], args[1]);
    case SymOp::kWhere:
      return {std::min(args[1].low, args[2].low), std::max(args[1].high, args[2].high)};
    case SymOp::kToFloat:
      return args[0];
    case SymOp::kTruncToInt:
      return {std::trunc(args[0].low), std::trunc(args[0].high)};
    case SymOp::kFloorToInt:
      return {std::floor(args[0].low), std::floor(args[0].high)};
    case SymOp::kCeilToInt:
      return {std::ceil(args[0].low), std::ceil(args[0].high)};
    case SymOp::kRoundToInt:
      return {std::nearbyint(args[0].low), std::nearbyint(args[0].high)};
    case SymOp::kEq:
      return is_equal(args[0], args[1]);
    case SymOp::kNe:
      return negated(is_equal(args[0], args[1]));
    case SymOp::kLt:
      return is_below(args[0], args[1], false);
    case SymOp::kLe:
      return is_below(args[0], args[1], true);
    case SymOp::kGt:
      return is_below(args[1], args[0], false);
    case SymOp::kGe:
      return is_below(args[1], args[0], true);
    case SymOp::kAnd:
    case SymOp::kOr:
    case SymOp::kNot:
      return logic_interval(op, args);
    default:
      return kAll;
  }
}

Interval interval_of(const Sym& sym, const SymRanges& ranges) {
  if (sym.is_int())
    return {static_cast<long double>(sym.as_int()), static_cast<long double>(sym.as_int())};
  if (sym.is_float())
    return std::isnan(sym.as_float()) ? kAll : Interval{sym.as_float(), sym.as_float()};
  if (sym.is_symbol()) return symbol_interval(sym.name(), ranges);
  std::vector<Interval> args;
  for (const Sym& arg : sym.args()) args.push_back(interval_of(arg, ranges));
  if (sym.op() == SymOp::kUnary && sym.name() == "sqrt" && args[0].low >= 0) {
    return {std::sqrt(args[0].low), std::sqrt(args[0].high)};
  }
  const Interval out = call_interval(sym.op(), args);
  return std::isnan(out.low) || std::isnan(out.high) ? kAll : out;
}

void collect(const Sym& sym, std::set<std::string>& names) {
  if (sym.is_symbol()) names.insert(sym.name());
  for (const Sym& arg : sym.args()) collect(arg, names);
}

}  // namespace

std::optional<int64_t> Sym::evaluate(const SymValues& values) const {
  const auto number = number_of(*this, values);
  if (!number) return std::nullopt;
  if (!number->real) return number->i;
  const auto rounded = to_whole(number->d);
  if (!rounded || static_cast<double>(rounded->i) != number->d) return std::nullopt;
  return rounded->i;
}

SymRange Sym::range(const SymRanges& ranges) const {
  const Interval bounds = interval_of(*this, ranges);
  constexpr long double kLimit = 9223372036854775807.0L;
  const long double low = std::floor(bounds.low), high = std::ceil(bounds.high);
  SymRange out;
  out.min = low <= -kLimit ? INT64_MIN : low >= kLimit ? INT64_MAX : static_cast<int64_t>(low);
  out.max = high >= kLimit    ? SymRange::kUnbounded
            : high <= -kLimit ? INT64_MIN
                              : static_cast<int64_t>(high);
  return out;
}

std::vector<std::string> Sym::symbols() const {
  std::set<std::string> names;
  collect(*this, names);
  return {names.begin(), names.end()};
}

}  // namespace taper::exir
