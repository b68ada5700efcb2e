// executorch_prim operators on numbers, with which programs compute sizes at run time.
//
//   Types     two integers (or bools) give an integer, anything else a double; comparisons a bool.
//   Integers  wrap around. floordiv and mod round toward negative infinity, as in Python; a divisor
//             of zero is refused.

#include <cmath>

#include "kernels_portable/cores/prim.h"
#include "kernels_portable/engine/arith.h"

namespace taper::portable {
namespace {

bool any_double(Scalar a, Scalar b) { return a.is_double() || b.is_double(); }

Status add(Scalar a, Scalar b, Scalar* out) {
  *out = any_double(a, b) ? Scalar(a.to_double() + b.to_double())
                          : Scalar(wrap_add(a.to_int(), b.to_int()));
  return {};
}

Status sub(Scalar a, Scalar b, Scalar* out) {
  *out = any_double(a, b) ? Scalar(a.to_double() - b.to_double())
                          : Scalar(wrap_sub(a.to_int(), b.to_int()));
  return {};
}

Status mul(Scalar a, Scalar b, Scalar* out) {
  *out = any_double(a, b) ? Scalar(a.to_double() * b.to_double())
                          : Scalar(wrap_mul(a.to_int(), b.to_int()));
  return {};
}

Status floordiv(Scalar a, Scalar b, Scalar* out) {
  TAPER_REQUIRE(b.to_double() != 0, Error::kInvalidArgument, "floordiv: division by zero");
  *out = any_double(a, b) ? Scalar(std::floor(a.to_double() / b.to_double()))
                          : Scalar(div_floor(a.to_int(), b.to_int()));
  return {};
}

Status truediv(Scalar a, Scalar b, Scalar* out) {
  TAPER_REQUIRE(b.to_double() != 0, Error::kInvalidArgument, "truediv: division by zero");
  *out = Scalar(a.to_double() / b.to_double());
  return {};
}

Status mod(Scalar a, Scalar b, Scalar* out) {
  TAPER_REQUIRE(b.to_double() != 0, Error::kInvalidArgument, "mod: division by zero");
  if (!any_double(a, b)) {
    *out = Scalar(mod_floor(a.to_int(), b.to_int()));
    return {};
  }
  const double divisor = b.to_double();
  const double rest = std::fmod(a.to_double(), divisor);
  *out = Scalar(rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest);
  return {};
}

bool is_less(Scalar a, Scalar b) {
  return any_double(a, b) ? a.to_double() < b.to_double() : a.to_int() < b.to_int();
}

bool is_equal(Scalar a, Scalar b) {
  return any_double(a, b) ? a.to_double() == b.to_double() : a.to_int() == b.to_int();
}

Status eq(Scalar a, Scalar b, Scalar* out) { return *out = Scalar(is_equal(a, b)), Status(); }
Status lt(Scalar a, Scalar b, Scalar* out) { return *out = Scalar(is_less(a, b)), Status(); }
Status gt(Scalar a, Scalar b, Scalar* out) { return *out = Scalar(is_less(b, a)), Status(); }
Status le(Scalar a, Scalar b, Scalar* out) {
  return *out = Scalar(is_less(a, b) || is_equal(a, b)), Status();
}
Status ge(Scalar a, Scalar b, Scalar* out) {
  return *out = Scalar(is_less(b, a) || is_equal(a, b)), Status();
}

// `chosen`, which is one of two operands, as a double if either of them is a double.
Scalar promoted(Scalar chosen, Scalar other) {
  return any_double(chosen, other) ? Scalar(chosen.to_double()) : Scalar(chosen.to_int());
}

Status sym_max(Scalar a, Scalar b, Scalar* out) {
  return *out = is_less(a, b) ? promoted(b, a) : promoted(a, b), Status();
}
Status sym_min(Scalar a, Scalar b, Scalar* out) {
  return *out = is_less(b, a) ? promoted(b, a) : promoted(a, b), Status();
}

Scalar neg(Scalar a) {
  return a.is_double() ? Scalar(-a.to_double()) : Scalar(wrap_neg(a.to_int()));
}
Scalar sym_float(Scalar a) { return a.to_double(); }
Scalar sym_int(Scalar a) { return a.to_int(); }
Scalar sym_not(Scalar a) { return !a.to_bool(); }

// Rounding to an integer; integers stay as they are.
Scalar ceil_to_int(Scalar a) {
  return a.is_double() ? Scalar(std::ceil(a.to_double())).to_int() : a.to_int();
}
Scalar round_to_int(Scalar a) {  // Ties round to even.
  return a.is_double() ? Scalar(std::nearbyint(a.to_double())).to_int() : a.to_int();
}

using Binary = Status (*)(Scalar a, Scalar b, Scalar* out);
using Unary = Scalar (*)(Scalar a);

template <Binary kFunction>
Status run_binary(KernelContext&, EValue* const* args) {
  Scalar result(int64_t{0});
  TAPER_TRY(kFunction(read_number(*args[0]), read_number(*args[1]), &result));
  return write_number(result, args[2]);
}

template <Unary kFunction>
Status run_unary(KernelContext&, EValue* const* args) {
  return write_number(kFunction(read_number(*args[0])), args[1]);
}

Status run_ite(KernelContext&, EValue* const* args) {
  return write_number(read_number(*args[read_number(*args[0]).to_bool() ? 1 : 2]), args[3]);
}

constexpr ArgSpec kNumber = {ArgKind::kScalar, false};
constexpr ArgSpec kResult = {ArgKind::kNumberOut, false};
constexpr ArgSpec kOneNumber[] = {kNumber, kResult};
constexpr ArgSpec kTwoNumbers[] = {kNumber, kNumber, kResult};
constexpr ArgSpec kThreeNumbers[] = {kNumber, kNumber, kNumber, kResult};

}  // namespace

#define TAPER_PRIM(variable, name, run, specs, count) \
  extern const Kernel variable;                       \
  const Kernel variable = {name, run, specs, count}

TAPER_PRIM(kPrimAddScalar, "executorch_prim::add.Scalar", run_binary<add>, kTwoNumbers, 3);
TAPER_PRIM(kPrimSubScalar, "executorch_prim::sub.Scalar", run_binary<sub>, kTwoNumbers, 3);
TAPER_PRIM(kPrimMulScalar, "executorch_prim::mul.Scalar", run_binary<mul>, kTwoNumbers, 3);
TAPER_PRIM(kPrimFloordivScalar, "executorch_prim::floordiv.Scalar", run_binary<floordiv>,
           kTwoNumbers, 3);
TAPER_PRIM(kPrimFloordivInt, "executorch_prim::floordiv.int", run_binary<floordiv>, kTwoNumbers, 3);
TAPER_PRIM(kPrimTruedivScalar, "executorch_prim::truediv.Scalar", run_binary<truediv>, kTwoNumbers,
           3);
TAPER_PRIM(kPrimModScalar, "executorch_prim::mod.Scalar", run_binary<mod>, kTwoNumbers, 3);
TAPER_PRIM(kPrimModInt, "executorch_prim::mod.int", run_binary<mod>, kTwoNumbers, 3);
TAPER_PRIM(kPrimEqScalar, "executorch_prim::eq.Scalar", run_binary<eq>, kTwoNumbers, 3);
TAPER_PRIM(kPrimGtScalar, "executorch_prim::gt.Scalar", run_binary<gt>, kTwoNumbers, 3);
TAPER_PRIM(kPrimLtScalar, "executorch_prim::lt.Scalar", run_binary<lt>, kTwoNumbers, 3);
TAPER_PRIM(kPrimGeScalar, "executorch_prim::ge.Scalar", run_binary<ge>, kTwoNumbers, 3);
TAPER_PRIM(kPrimLeScalar, "executorch_prim::le.Scalar", run_binary<le>, kTwoNumbers, 3);
TAPER_PRIM(kPrimSymMaxScalar, "executorch_prim::sym_max.Scalar", run_binary<sym_max>, kTwoNumbers,
           3);
TAPER_PRIM(kPrimSymMinScalar, "executorch_prim::sym_min.Scalar", run_binary<sym_min>, kTwoNumbers,
           3);
TAPER_PRIM(kPrimNegScalar, "executorch_prim::neg.Scalar", run_unary<neg>, kOneNumber, 2);
TAPER_PRIM(kPrimSymFloatScalar, "executorch_prim::sym_float.Scalar", run_unary<sym_float>,
           kOneNumber, 2);
TAPER_PRIM(kPrimSymIntScalar, "executorch_prim::sym_int.Scalar", run_unary<sym_int>, kOneNumber, 2);
TAPER_PRIM(kPrimSymNotScalar, "executorch_prim::sym_not.Scalar", run_unary<sym_not>, kOneNumber, 2);
TAPER_PRIM(kPrimCeilScalar, "executorch_prim::ceil.Scalar", run_unary<ceil_to_int>, kOneNumber, 2);
TAPER_PRIM(kPrimRoundScalar, "executorch_prim::round.Scalar", run_unary<round_to_int>, kOneNumber,
           2);
TAPER_PRIM(kPrimTruncScalar, "executorch_prim::trunc.Scalar", run_unary<sym_int>, kOneNumber, 2);
TAPER_PRIM(kPrimSymIteScalar, "executorch_prim::sym_ite.Scalar", run_ite, kThreeNumbers, 4);

#undef TAPER_PRIM

}  // namespace taper::portable
