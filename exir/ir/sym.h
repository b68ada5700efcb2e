// Sym: an integer, float or boolean that may depend on symbols such as s77, the dynamic sizes of an
// exported program.
//
// Integer sums and products are kept in one canonical form (a polynomial with sorted terms), so two
// sizes are equal exactly when their texts are: s0*4 + 4 == 4*(1 + s0). Everything else (FloorDiv,
// Mod, Max, ToFloat, ...) is an opaque call over canonical arguments, folded when all are known.
//
// Immutable and cheap to copy. Arithmetic that would overflow int64 throws exir::Failure.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taper::exir {

enum class SymOp : uint8_t {
  kInt,
  kFloat,
  kSymbol,
  kAdd,
  kMul,
  kFloorDiv,
  kCeilDiv,
  kMod,
  kPythonMod,
  kModularIndexing,
  kMax,
  kMin,
  kPow,
  kWhere,
  kTrueDiv,
  kToFloat,
  kTruncToInt,
  kFloorToInt,
  kCeilToInt,
  kRoundToInt,
  kFloatMul,
  kFloatAdd,
  kFloatPow,
  kLShift,
  kRShift,
  kBitAnd,
  kBitOr,
  kBitXor,
  kUnary,  // kUnary: name() says which: "sqrt", "exp", ...
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  kNot,
};

// Inclusive bounds of a symbol or expression. kUnbounded stands for "no upper limit known".
struct SymRange {
  static constexpr int64_t kUnbounded = INT64_MAX;
  int64_t min = 0;
  int64_t max = kUnbounded;
};

// Symbol name to its bounds, and to its value.
using SymRanges = std::map<std::string, SymRange, std::less<>>;
using SymValues = std::map<std::string, int64_t, std::less<>>;

class Sym {
 public:
  struct Expr;

  Sym() : Sym(int64_t{0}) {}
  Sym(const Sym&);
  Sym(Sym&&) noexcept;
  Sym& operator=(const Sym&);
  Sym& operator=(Sym&&) noexcept;
  ~Sym();
  Sym(int64_t value);
  Sym(int value) : Sym(static_cast<int64_t>(value)) {}
  static Sym from_float(double value);
  static Sym symbol(std::string_view name);
  // Folds or canonicalises. `name` only for kUnary. Throws Failure if the arity is wrong.
  static Sym call(SymOp op, std::vector<Sym> args, std::string_view name = {});

  SymOp op() const;
  bool is_int() const { return op() == SymOp::kInt; }
  bool is_float() const { return op() == SymOp::kFloat; }
  bool is_symbol() const { return op() == SymOp::kSymbol; }
  // Throws Failure unless is_int(): whoever needs a number refuses a size that has none yet.
  int64_t as_int() const;
  // REQUIRES is_float() / is_symbol() or kUnary.
  double as_float() const;
  const std::string& name() const;
  const std::vector<Sym>& args() const;

  // Infix text, canonical: "4*s0 + 4", "s0//2", "max(1, s0)". Equal texts mean equal values.
  const std::string& text() const;
  bool operator==(const Sym& other) const { return text() == other.text(); }

  // The value under an assignment of all symbols; nullopt if one is missing or a division is by 0.
  std::optional<int64_t> evaluate(const SymValues& values) const;
  // Bounds under the ranges of its symbols: never too narrow.
  SymRange range(const SymRanges& ranges) const;
  // The names of the symbols in it, sorted, each once.
  std::vector<std::string> symbols() const;

 private:
  explicit Sym(std::shared_ptr<const Expr> expr) : expr_(std::move(expr)) {}
  std::shared_ptr<const Expr> expr_;
};

Sym operator+(const Sym& a, const Sym& b);
Sym operator-(const Sym& a, const Sym& b);
Sym operator*(const Sym& a, const Sym& b);
Sym floor_div(const Sym& a, const Sym& b);  // Toward minus infinity.
Sym mod(const Sym& a, const Sym& b);
Sym max(const Sym& a, const Sym& b);
Sym min(const Sym& a, const Sym& b);

// Parses the canonical infix text back. Throws Failure.
Sym parse_sym(std::string_view text);

}  // namespace taper::exir
