// Functions of a quotient of floats: remainders, rounded quotients, the angle of a point.
//
// A remainder a - n b with a whole n is exact: with n the truncated quotient, one fused product and
// sum gives it without rounding. Where the quotient was rounded up to a whole number it is one b
// too little, which is added. Quotients of 2^24 and more are left to the C library.

#include <cmath>
#include <limits>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/pairs.h"
#include "kernels_optimized/ops/integers.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/quotient.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_QUOTIENT_OPS
#define TAPER_QUOTIENT_OPS
namespace taper::optimized {
namespace {

enum class Quotient { kFmod, kRemainder, kFloor, kTrunc, kAtan2 };
using Floats = Source<float>;

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE Vec fmod_by_library(Vec a, Vec b) {
  HWY_ALIGN float x[kLanes], y[kLanes];
  hn::Store(a, kTag, x);
  hn::Store(b, kTag, y);
  for (int64_t i = 0; i < kLanes; ++i) x[i] = std::fmod(x[i], y[i]);
  return hn::Load(kTag, x);
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

template <Quotient kOp>
HWY_INLINE Vec apply(Vec a, Vec b) {
  if constexpr (kOp == Quotient::kFmod) return fmod_of(a, b);
  if constexpr (kOp == Quotient::kRemainder) {
    const Vec rest = fmod_of(a, b);
    return hn::IfThenElse(is_opposite(rest, b), hn::Add(rest, b), rest);
  }
  if constexpr (kOp == Quotient::kFloor) return floor_of(a, b);
  if constexpr (kOp == Quotient::kTrunc) return hn::Trunc(hn::Div(a, b));
  if constexpr (kOp == Quotient::kAtan2) return atan2_of(a, b);
}

template <Quotient kOp>
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

void quotient_form(Quotient op, Floats a, Floats b, float* out, int64_t count) {
  switch (op) {
    case Quotient::kFmod:
      return run<Quotient::kFmod>(a, b, out, count);
    case Quotient::kRemainder:
      return run<Quotient::kRemainder>(a, b, out, count);
    case Quotient::kFloor:
      return run<Quotient::kFloor>(a, b, out, count);
    case Quotient::kTrunc:
      return run<Quotient::kTrunc>(a, b, out, count);
    case Quotient::kAtan2:
      return run<Quotient::kAtan2>(a, b, out, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(Quotient, Floats, Floats, float*, int64_t);

bool of_tensors(const KernelContext& context, Quotient op, const Tensor& a, const Tensor& b,
                Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, quotient_form);
  return form != nullptr && are_float(a, b, out) &&
         for_each_pair<float>(
             context, kExponentialWork, a, b, out,
             [&](Floats x, Floats y, float* to, int64_t count) { form(op, x, y, to, count); });
}

bool by_number(const KernelContext& context, Quotient op, const Tensor& a, Scalar b, Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, quotient_form);
  return form != nullptr && are_float(a, out) &&
         for_each_element(
             context, kExponentialWork, a, as_float(b), out,
             [&](Floats x, Floats y, float* to, int64_t count) { form(op, x, y, to, count); });
}

template <Quotient kOp>
bool fast_tensors(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return of_tensors(context, kOp, self, other, out);
}
template <Quotient kOp>
bool fast_number(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return by_number(context, kOp, self, other, out);
}

bool fast_floor(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return of_tensors(context, Quotient::kFloor, self, other, out) ||
         pairwise(context, Pairwise::kFloorDivide, self, other, out);
}
bool fast_floor_number(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return by_number(context, Quotient::kFloor, self, other, out) ||
         pairwise(context, Pairwise::kFloorDivide, self, other, out);
}

// The rounding mode; false if there is none, or an unknown one.
bool read_mode(std::optional<std::string_view> mode, Quotient* op) {
  *op = mode == "floor" ? Quotient::kFloor : Quotient::kTrunc;
  return mode == "floor" || mode == "trunc";
}
bool fast_div_mode(KernelContext& context, const Tensor& self, const Tensor& other,
                   std::optional<std::string_view> mode, Tensor& out) {
  Quotient op;
  return read_mode(mode, &op) &&
         (op == Quotient::kFloor ? fast_floor(context, self, other, out)
                                 : of_tensors(context, op, self, other, out));
}
bool fast_div_number_mode(KernelContext& context, const Tensor& self, Scalar other,
                          std::optional<std::string_view> mode, Tensor& out) {
  Quotient op;
  return read_mode(mode, &op) &&
         (op == Quotient::kFloor ? fast_floor_number(context, self, other, out)
                                 : by_number(context, op, self, other, out));
}

}  // namespace

extern const Kernel kAtan2Out, kDivOutMode, kDivScalarModeOut, kFloorDivideOut,
    kFloorDivideScalarOut, kFmodTensorOut, kFmodScalarOut, kRemainderTensorOut, kRemainderScalarOut;
const Kernel kAtan2Out =
    overlay<fast_tensors<Quotient::kAtan2>, portable::kAtan2Out>("aten::atan2.out");
const Kernel kDivOutMode = overlay<fast_div_mode, portable::kDivOutMode>("aten::div.out_mode");
const Kernel kDivScalarModeOut =
    overlay<fast_div_number_mode, portable::kDivScalarModeOut>("aten::div.Scalar_mode_out");
const Kernel kFloorDivideOut =
    overlay<fast_floor, portable::kFloorDivideOut>("aten::floor_divide.out");
const Kernel kFloorDivideScalarOut =
    overlay<fast_floor_number, portable::kFloorDivideScalarOut>("aten::floor_divide.Scalar_out");
const Kernel kFmodTensorOut =
    overlay<fast_tensors<Quotient::kFmod>, portable::kFmodTensorOut>("aten::fmod.Tensor_out");
const Kernel kFmodScalarOut =
    overlay<fast_number<Quotient::kFmod>, portable::kFmodScalarOut>("aten::fmod.Scalar_out");
const Kernel kRemainderTensorOut =
    overlay<fast_tensors<Quotient::kRemainder>, portable::kRemainderTensorOut>(
        "aten::remainder.Tensor_out");
const Kernel kRemainderScalarOut =
    overlay<fast_number<Quotient::kRemainder>, portable::kRemainderScalarOut>(
        "aten::remainder.Scalar_out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
