// Functions of two floats: remainders, rounded quotients, the angle of a point, powers.
//
// A power is 2^(b log2(a)). What rounding takes from the logarithm and from the product is kept in
// a second float, since the power turns their absolute error into a relative one.
//
// A remainder a - n b with a whole n is exact: with n the truncated quotient, one fused product and
// sum gives it without rounding. Where the quotient was rounded up to a whole number it is one b
// too little, which is added. Quotients of 2^24 and more are left to the C library.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/pairs.h"
#include "kernels_optimized/ops/integers.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/pair_functions.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_PAIR_FUNCTIONS
#define TAPER_PAIR_FUNCTIONS
namespace taper::optimized {
namespace {

enum class PairFunction { kFmod, kRemainder, kFloor, kTrunc, kAtan2, kPow, kExp2 };
using Floats = Source<float>;

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

template <typename Function>
HWY_INLINE Vec by_library(Function function, Vec a, Vec b) {
  HWY_ALIGN float x[kLanes], y[kLanes];
  hn::Store(a, kTag, x);
  hn::Store(b, kTag, y);
  for (int64_t i = 0; i < kLanes; ++i) x[i] = function(x[i], y[i]);
  return hn::Load(kTag, x);
}
HWY_INLINE Vec fmod_by_library(Vec a, Vec b) {
  return by_library([](float x, float y) { return std::fmod(x, y); }, a, b);
}

// Whether NegMulAdd() rounds once.
constexpr bool kIsFused = HWY_ARCH_X86 || HWY_ARCH_ARM_A64;

// The remainder of the truncated quotient; it has the sign of a.
HWY_INLINE Vec fmod_of(Vec a, Vec b) {
  if constexpr (!kIsFused) return fmod_by_library(a, b);
  const Vec n = hn::Trunc(hn::Div(a, b));
  const Vec most = constant(16777216), finite = constant(std::numeric_limits<float>::max());
  const auto is_usual = hn::And(hn::Lt(hn::Abs(n), most), hn::Le(hn::Abs(b), finite));
  if (HWY_UNLIKELY(!hn::AllTrue(kTag, is_usual))) return fmod_by_library(a, b);
  const Vec rest = hn::NegMulAdd(n, b, a);
  const auto is_past = hn::Lt(hn::Mul(rest, hn::CopySign(constant(1), a)), hn::Zero(kTag));
  const Vec back = hn::CopySign(hn::Abs(b), a);
  return hn::CopySign(hn::IfThenElse(is_past, hn::Add(rest, back), rest), a);
}

// Whether there is a remainder on the other side of zero than b.
HWY_INLINE auto is_opposite(Vec rest, Vec b) {
  const Vec zero = hn::Zero(kTag);
  const auto differ = hn::Xor(hn::Lt(rest, zero), hn::Lt(b, zero));
  return hn::And(hn::Ne(rest, zero), differ);
}

// a / b rounded down. From the exact remainder, since a / b may round up to the next whole number.
HWY_INLINE Vec floor_of(Vec a, Vec b) {
  const Vec rest = fmod_of(a, b), ratio = hn::Div(a, b);
  Vec whole = hn::Div(hn::Sub(a, rest), b);
  whole = hn::IfThenElse(is_opposite(rest, b), hn::Sub(whole, constant(1)), whole);
  Vec result = hn::Floor(whole);
  result = hn::IfThenElse(hn::Gt(hn::Sub(whole, result), constant(0.5f)),
                          hn::Add(result, constant(1)), result);
  const Vec zero = hn::CopySign(hn::Zero(kTag), ratio);
  result = hn::IfThenElse(hn::Eq(whole, hn::Zero(kTag)), zero, result);
  return hn::IfThenElse(hn::Eq(b, hn::Zero(kTag)), ratio, result);
}

// The angle of (x, y): that of the smaller size over the larger, reflected twice.
HWY_INLINE Vec atan2_of(Vec y, Vec x) {
  const Vec a = hn::Abs(y), b = hn::Abs(x);
  const auto is_steep = hn::Gt(a, b);
  const Vec high = hn::IfThenElse(is_steep, a, b), low = hn::IfThenElse(is_steep, b, a);
  const Vec equal = hn::IfThenElseZero(hn::Gt(high, hn::Zero(kTag)), constant(1));
  const Vec z = hn::IfThenElse(hn::Eq(low, high), equal, hn::Div(low, high));
  Vec angle = atan_of(z);
  angle = hn::IfThenElse(is_steep, hn::Sub(constant(kPi / 2), angle), angle);
  const auto is_left = hn::Ne(hn::CopySign(constant(1), x), constant(1));
  angle = hn::IfThenElse(is_left, hn::Sub(constant(kPi), angle), angle);
  const auto is_number = hn::And(hn::Eq(x, x), hn::Eq(y, y));
  return hn::IfThenElse(is_number, hn::CopySign(angle, y), hn::Add(x, y));
}

// A number and what its rounding lost.
struct Exact {
  Vec rounded, lost;
};

// REQUIRES: |a| is not less than |b|, or a is 0.
HWY_INLINE Exact exact_sum(Vec a, Vec b) {
  const Vec sum = hn::Add(a, b);
  return {sum, hn::Sub(b, hn::Sub(sum, a))};
}

HWY_INLINE Exact exact_product(Vec a, Vec b) {
  const Vec product = hn::Mul(a, b);
  if constexpr (kIsFused) return {product, hn::MulSub(a, b, product)};
  // In halves of 12 bits, whose products are exact.
  const hn::RebindToUnsigned<Tag> bits;
  const auto high = hn::BitCast(kTag, hn::Set(bits, 0xfffff000u));
  const Vec x = hn::And(a, high), y = hn::And(b, high), p = hn::Sub(a, x), q = hn::Sub(b, y);
  const Vec crossed =
      hn::Add(hn::Add(hn::Sub(hn::Mul(x, y), product), hn::Mul(x, q)), hn::Mul(p, y));
  return {product, hn::Add(crossed, hn::Mul(p, q))};
}

// The logarithm to base 2 of a positive finite number. Of the series f - f^2 / 2 + f^3 / 3 - ...
// the first three terms are summed up exactly.
HWY_INLINE Exact exact_log2(Vec x) {
  const PowerOfTwo parts = split(x);
  const Vec f = parts.less;
  const Exact square = exact_product(f, f), cube = exact_product(square.rounded, f);
  const Vec third = constant(kLogP[kLogTerms - 1]);
  const Exact start = exact_sum(f, hn::Mul(square.rounded, constant(-0.5f)));
  const Exact next = exact_product(cube.rounded, third);
  const Exact sum = exact_sum(start.rounded, next.rounded);
  Vec lost = hn::Add(hn::Add(start.lost, next.lost), sum.lost);
  lost = hn::MulAdd(square.lost, hn::MulAdd(f, third, constant(-0.5f)), lost);
  lost = hn::MulAdd(cube.lost, third, lost);
  float others[kLogTerms - 1];
  std::copy_n(kLogP, kLogTerms - 1, others);
  lost = hn::MulAdd(hn::Mul(cube.rounded, f), polynomial(f, others), lost);

  const Vec log2e = constant(portable::kLog2E);
  const Exact scaled = exact_product(sum.rounded, log2e);
  lost = hn::MulAdd(lost, log2e, scaled.lost);
  lost = hn::MulAdd(sum.rounded, constant(1.92596299e-8f), lost);  // What the factor lacks.
  const Exact whole = exact_sum(parts.exponent, scaled.rounded);
  return exact_sum(whole.rounded, hn::Add(whole.lost, lost));
}

// 2^x, in two factors, since 2^n alone may overflow, or lack digits.
HWY_INLINE Vec exp2_of(Exact x) {
  const hn::RebindToSigned<Tag> ints;
  constexpr float kMost = 152;  // 2^-152 counts as 0; so does what rounding lost.
  const auto is_beyond = hn::Gt(hn::Abs(x.rounded), constant(kMost));
  const Vec y = at_most(at_least(x.rounded, constant(-kMost)), constant(kMost));
  const Vec n = hn::Round(y);
  const Vec r = hn::Add(hn::Sub(y, n), hn::IfThenZeroElse(is_beyond, x.lost));
  const Vec angle = hn::Mul(r, constant(0.693147181f));
  const Vec less = hn::MulAdd(hn::Mul(angle, angle), polynomial(angle, kExpm1P), angle);
  const Vec near = hn::Add(less, constant(1));  // Exact for whole numbers.
  const auto whole = hn::ConvertTo(ints, n), half = hn::ShiftRight<1>(whole);
  const auto power = [&](auto k) {
    return hn::BitCast(kTag, hn::ShiftLeft<23>(hn::Add(k, hn::Set(ints, 127))));
  };
  return hn::Mul(hn::Mul(near, power(half)), power(hn::Sub(whole, half)));
}

HWY_INLINE Vec pow_of(Vec a, Vec b) {
  const Vec size = hn::Abs(a), zero = hn::Zero(kTag), one = constant(1);
  const Vec finite = constant(std::numeric_limits<float>::max());
  const auto is_usual = hn::And(hn::Le(size, finite), hn::Le(hn::Abs(b), finite));
  if (HWY_UNLIKELY(!hn::AllTrue(kTag, is_usual))) {
    return by_library([](float x, float y) { return std::pow(x, y); }, a, b);
  }
  const Exact log = exact_log2(size);
  const Exact product = exact_product(b, log.rounded);
  Vec result = exp2_of({product.rounded, hn::MulAdd(b, log.lost, product.lost)});
  const Vec infinity = constant(std::numeric_limits<float>::infinity());
  const Vec of_zero = hn::IfThenZeroElse(hn::Gt(b, zero), infinity);
  result = hn::IfThenElse(hn::Eq(size, zero), of_zero, result);
  const Vec half = hn::Mul(b, constant(0.5f));
  const auto is_whole = hn::Eq(hn::Trunc(b), b), is_even = hn::Eq(hn::Trunc(half), half);
  const Vec sign = hn::IfThenElseZero(hn::AndNot(is_even, is_whole), a);
  result = hn::CopySign(result, sign);
  const auto is_none = hn::AndNot(is_whole, hn::Lt(a, zero));
  result = hn::IfThenElse(is_none, constant(std::numeric_limits<float>::quiet_NaN()), result);
  return hn::IfThenElse(hn::Eq(b, zero), one, result);
}

template <PairFunction kOp>
HWY_INLINE Vec apply(Vec a, Vec b) {
  if constexpr (kOp == PairFunction::kFmod) return fmod_of(a, b);
  if constexpr (kOp == PairFunction::kRemainder) {
    const Vec rest = fmod_of(a, b);
    return hn::IfThenElse(is_opposite(rest, b), hn::Add(rest, b), rest);
  }
  if constexpr (kOp == PairFunction::kFloor) return floor_of(a, b);
  if constexpr (kOp == PairFunction::kTrunc) return hn::Trunc(hn::Div(a, b));
  if constexpr (kOp == PairFunction::kAtan2) return atan2_of(a, b);
  if constexpr (kOp == PairFunction::kPow) return pow_of(a, b);
  if constexpr (kOp == PairFunction::kExp2) return exp2_of({b, hn::Zero(kTag)});
}

template <PairFunction kOp>
void run(Floats a, Floats b, float* out, int64_t count) {
  const Vec all_a = hn::Set(kTag, *a.data), all_b = hn::Set(kTag, *b.data);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vec x = a.step != 0 ? hn::LoadU(kTag, a.data + i) : all_a;
    const Vec y = b.step != 0 ? hn::LoadU(kTag, b.data + i) : all_b;
    hn::StoreU(apply<kOp>(x, y), kTag, out + i);
  }
  if (i == count) return;
  const auto is_there = hn::FirstN(kTag, static_cast<size_t>(count - i));
  const Vec x = a.step != 0 ? load_some(a.data + i, count - i) : all_a;
  const Vec y = b.step != 0 ? load_some(b.data + i, count - i) : all_b;
  store_some(apply<kOp>(x, hn::IfThenElse(is_there, y, constant(1))), out + i, count - i);
}

}  // namespace

void pair_function_form(PairFunction op, Floats a, Floats b, float* out, int64_t count) {
  switch (op) {
    case PairFunction::kFmod:
      return run<PairFunction::kFmod>(a, b, out, count);
    case PairFunction::kRemainder:
      return run<PairFunction::kRemainder>(a, b, out, count);
    case PairFunction::kFloor:
      return run<PairFunction::kFloor>(a, b, out, count);
    case PairFunction::kTrunc:
      return run<PairFunction::kTrunc>(a, b, out, count);
    case PairFunction::kAtan2:
      return run<PairFunction::kAtan2>(a, b, out, count);
    case PairFunction::kPow:
      return run<PairFunction::kPow>(a, b, out, count);
    case PairFunction::kExp2:
      return run<PairFunction::kExp2>(a, b, out, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(PairFunction, Floats, Floats, float*, int64_t);

bool of_tensors(const KernelContext& context, PairFunction op, const Tensor& a, const Tensor& b,
                Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, pair_function_form);
  return form != nullptr && are_float(a, b, out) &&
         for_each_pair<float>(
             context, kExponentialWork, a, b, out,
             [&](Floats x, Floats y, float* to, int64_t count) { form(op, x, y, to, count); });
}

bool by_number(const KernelContext& context, PairFunction op, const Tensor& a, Scalar b,
               Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, pair_function_form);
  return form != nullptr && are_float(a, out) &&
         for_each_element(
             context, kExponentialWork, a, as_float(b), out,
             [&](Floats x, Floats y, float* to, int64_t count) { form(op, x, y, to, count); });
}

template <PairFunction kOp>
bool fast_tensors(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return of_tensors(context, kOp, self, other, out);
}
template <PairFunction kOp>
bool fast_number(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return by_number(context, kOp, self, other, out);
}

bool fast_floor(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return of_tensors(context, PairFunction::kFloor, self, other, out) ||
         pairwise(context, Pairwise::kFloorDivide, self, other, out);
}
bool fast_floor_number(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return by_number(context, PairFunction::kFloor, self, other, out) ||
         pairwise(context, Pairwise::kFloorDivide, self, other, out);
}

// The rounding mode; false if there is none, or an unknown one.
bool read_mode(std::optional<std::string_view> mode, PairFunction* op) {
  *op = mode == "floor" ? PairFunction::kFloor : PairFunction::kTrunc;
  return mode == "floor" || mode == "trunc";
}
bool fast_div_mode(KernelContext& context, const Tensor& self, const Tensor& other,
                   std::optional<std::string_view> mode, Tensor& out) {
  PairFunction op;
  return read_mode(mode, &op) &&
         (op == PairFunction::kFloor ? fast_floor(context, self, other, out)
                                     : of_tensors(context, op, self, other, out));
}
bool fast_div_number_mode(KernelContext& context, const Tensor& self, Scalar other,
                          std::optional<std::string_view> mode, Tensor& out) {
  PairFunction op;
  return read_mode(mode, &op) &&
         (op == PairFunction::kFloor ? fast_floor_number(context, self, other, out)
                                     : by_number(context, op, self, other, out));
}

// Exponents that have a shorter formula are the portable kernel's.
bool fast_pow_number(KernelContext& context, const Tensor& self, Scalar exponent, Tensor& out) {
  constexpr double kShort[] = {-2, -1, -0.5, 0, 0.5, 1, 2, 3};
  return std::find(std::begin(kShort), std::end(kShort), exponent.to_double()) ==
             std::end(kShort) &&
         by_number(context, PairFunction::kPow, self, exponent, out);
}
bool fast_pow_of_number(KernelContext& context, Scalar self, const Tensor& exponent, Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, pair_function_form);
  const PairFunction op = self.to_double() == 2 ? PairFunction::kExp2 : PairFunction::kPow;
  return form != nullptr && are_float(exponent, out) &&
         for_each_element(
             context, kExponentialWork, exponent, as_float(self), out,
             [&](Floats y, Floats x, float* to, int64_t count) { form(op, x, y, to, count); });
}

}  // namespace

extern const Kernel kPowScalarOut, kPowTensorScalarOut, kPowTensorTensorOut;
const Kernel kPowScalarOut =
    overlay<fast_pow_of_number, portable::kPowScalarOut>("aten::pow.Scalar_out");
const Kernel kPowTensorScalarOut =
    overlay<fast_pow_number, portable::kPowTensorScalarOut>("aten::pow.Tensor_Scalar_out");
const Kernel kPowTensorTensorOut =
    overlay<fast_tensors<PairFunction::kPow>, portable::kPowTensorTensorOut>(
        "aten::pow.Tensor_Tensor_out");

extern const Kernel kAtan2Out, kDivOutMode, kDivScalarModeOut, kFloorDivideOut,
    kFloorDivideScalarOut, kFmodTensorOut, kFmodScalarOut, kRemainderTensorOut, kRemainderScalarOut;
const Kernel kAtan2Out =
    overlay<fast_tensors<PairFunction::kAtan2>, portable::kAtan2Out>("aten::atan2.out");
const Kernel kDivOutMode = overlay<fast_div_mode, portable::kDivOutMode>("aten::div.out_mode");
const Kernel kDivScalarModeOut =
    overlay<fast_div_number_mode, portable::kDivScalarModeOut>("aten::div.Scalar_mode_out");
const Kernel kFloorDivideOut =
    overlay<fast_floor, portable::kFloorDivideOut>("aten::floor_divide.out");
const Kernel kFloorDivideScalarOut =
    overlay<fast_floor_number, portable::kFloorDivideScalarOut>("aten::floor_divide.Scalar_out");
const Kernel kFmodTensorOut =
    overlay<fast_tensors<PairFunction::kFmod>, portable::kFmodTensorOut>("aten::fmod.Tensor_out");
const Kernel kFmodScalarOut =
    overlay<fast_number<PairFunction::kFmod>, portable::kFmodScalarOut>("aten::fmod.Scalar_out");
const Kernel kRemainderTensorOut =
    overlay<fast_tensors<PairFunction::kRemainder>, portable::kRemainderTensorOut>(
        "aten::remainder.Tensor_out");
const Kernel kRemainderScalarOut =
    overlay<fast_number<PairFunction::kRemainder>, portable::kRemainderScalarOut>(
        "aten::remainder.Scalar_out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
