// exp, log, sine and similar functions over vectors. The formulas and coefficients of exp, tanh and
// erf are those of the portable kernels (kernels_portable/engine/vector_math.h). For the others the
// portable kernels call the C library; their coefficients here were fitted for this file, with
// errors below 3e-8. NaN gives NaN, infinities give the limits. Values are clamped with
// comparisons, because minimum and maximum instructions treat NaN differently on each processor.

#if defined(TAPER_VECTOR_MATH_FORM) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPER_VECTOR_MATH_FORM
#undef TAPER_VECTOR_MATH_FORM
#else
#define TAPER_VECTOR_MATH_FORM
#endif

#include <limits>

#include "kernels_optimized/engine/vectors.h"
#include "kernels_portable/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

HWY_INLINE Vec constant(float value) { return hn::Set(kTag, value); }

// NaN stays NaN. On 64-bit ARM one instruction does that. If there is a NaN, that of x86 gives its
// second operand and that of WebAssembly its first; what others give is not known.
#if HWY_ARCH_ARM_A64
HWY_INLINE Vec at_least(Vec x, Vec low) { return Vec(vmaxq_f32(x.raw, low.raw)); }
HWY_INLINE Vec at_most(Vec x, Vec high) { return Vec(vminq_f32(x.raw, high.raw)); }
#elif HWY_ARCH_X86
HWY_INLINE Vec at_least(Vec x, Vec low) { return hn::Max(low, x); }
HWY_INLINE Vec at_most(Vec x, Vec high) { return hn::Min(high, x); }
#elif HWY_ARCH_WASM
HWY_INLINE Vec at_least(Vec x, Vec low) { return Vec{wasm_f32x4_pmax(x.raw, low.raw)}; }
HWY_INLINE Vec at_most(Vec x, Vec high) { return Vec{wasm_f32x4_pmin(x.raw, high.raw)}; }
#else
HWY_INLINE Vec at_least(Vec x, Vec low) { return hn::IfThenElse(hn::Lt(x, low), low, x); }
HWY_INLINE Vec at_most(Vec x, Vec high) { return hn::IfThenElse(hn::Gt(x, high), high, x); }
#endif

template <size_t kCount>
HWY_INLINE Vec polynomial(Vec x, const float (&coefficients)[kCount]) {
  Vec sum = constant(coefficients[0]);
  TAPER_UNROLL
  for (size_t i = 1; i < kCount; ++i) sum = hn::MulAdd(sum, x, constant(coefficients[i]));
  return sum;
}

HWY_INLINE Vec exp_of(Vec x) {
  using namespace portable;
  const hn::RebindToUnsigned<Tag> bits;
  const auto vanishes = hn::Lt(x, constant(kExpVanishes));
  const Vec y = at_most(hn::IfThenZeroElse(vanishes, x), constant(kExpOverflows));
  const Vec shifted = hn::MulAdd(y, constant(kLog2E), constant(kRound));
  const Vec n = hn::Sub(shifted, constant(kRound));
  const Vec r = hn::NegMulAdd(n, constant(kLn2Low), hn::NegMulAdd(n, constant(kLn2High), y));
  const Vec power = hn::BitCast(kTag, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
  return hn::IfThenZeroElse(vanishes, hn::Mul(polynomial(r, kExpP), power));
}

template <size_t kP, size_t kQ>
HWY_INLINE Vec odd_ratio(Vec x, float limit, const float (&p)[kP], const float (&q)[kQ]) {
  const Vec y = at_most(at_least(x, constant(-limit)), constant(limit));
  const Vec z = hn::Mul(y, y);
  const Vec ratio = hn::Div(hn::Mul(y, polynomial(z, p)), polynomial(z, q));
  return at_most(at_least(ratio, constant(-1)), constant(1));
}

HWY_INLINE Vec tanh_of(Vec x) {
  return odd_ratio(x, portable::kTanhLimit, portable::kTanhP, portable::kTanhQ);
}
HWY_INLINE Vec erf_of(Vec x) {
  return odd_ratio(x, portable::kErfLimit, portable::kErfP, portable::kErfQ);
}

// 1 / x for 1 <= x < 2^126: an estimate and a step of Newton's method, which doubles its exact
// bits, because a division takes longer than the rest of the function. The estimate has 8 bits on
// ARM, which take two steps, and at least 12 elsewhere.
HWY_INLINE Vec reciprocal(Vec x) {
  Vec guess = hn::ApproximateReciprocal(x);
#if HWY_ARCH_ARM
  guess = hn::Mul(guess, hn::NegMulAdd(x, guess, constant(2)));
#endif
  return hn::Mul(guess, hn::NegMulAdd(x, guess, constant(2)));
}

HWY_INLINE Vec gelu_of(Vec x) {
  const Vec half = hn::Mul(x, constant(0.5f));
  return hn::MulAdd(half, erf_of(hn::Mul(x, constant(0.70710678f))), half);
}
HWY_INLINE Vec gelu_by_tanh(Vec x) {
  const Vec half = hn::Mul(x, constant(0.5f));
  const Vec cubed = hn::Mul(hn::Mul(x, x), hn::Mul(x, constant(0.044715f)));
  return hn::MulAdd(half, tanh_of(hn::Mul(constant(0.79788456f), hn::Add(x, cubed))), half);
}

// min(max(x + 3, 0), 6): six times hardsigmoid(x).
HWY_INLINE Vec hard_gate(Vec x) {
  return at_most(at_least(hn::Add(x, constant(3)), constant(0)), constant(6));
}
// Without a division, so that the last digit may differ from PyTorch's.
HWY_INLINE Vec hardswish_of(Vec x) { return hn::Mul(hn::Mul(x, constant(1.0f / 6)), hard_gate(x)); }

// e^r for |r| <= ln(2) / 2, within 0.7 units in the last place; r^5 first.
constexpr float kNearExpP[] = {0.00829765480f, 0.0419153832f, 0.166675746f,
                               0.499988943f,   0.999999702f,  1.00000012f};

// Below this number e^-x is too large for reciprocal(); 1 / (1 + e^-x) then counts as 0.
constexpr float kSigmoidVanishes = -87;

// 1 + e^-x, with x not below kSigmoidVanishes, in few instructions: the cost of many activations.
HWY_INLINE Vec one_and_exp(Vec x) {
  const hn::RebindToUnsigned<Tag> bits;
  constexpr float kRound = 12583039.0f;  // 1.5 * 2^23 + 127: the low bits become those of 2^n.
  const Vec y = at_most(at_least(x, constant(kSigmoidVanishes)), constant(-kSigmoidVanishes));
  const Vec shifted = hn::NegMulAdd(y, constant(portable::kLog2E), constant(kRound));
  const Vec n = hn::Sub(shifted, constant(kRound));
  const Vec r = hn::NegMulSub(n, constant(0.693147182f), y);  // -y - n ln(2)
  const Vec power = hn::BitCast(kTag, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
  return hn::MulAdd(polynomial(r, kNearExpP), power, constant(1));
}

HWY_INLINE Vec sigmoid_of(Vec x) {
  const auto vanishes = hn::Lt(x, constant(kSigmoidVanishes));
  return hn::IfThenZeroElse(vanishes, hn::Div(constant(1), one_and_exp(x)));
}

HWY_INLINE Vec swish_of(Vec x) {
  const auto vanishes = hn::Lt(x, constant(kSigmoidVanishes));
  return hn::Mul(x, hn::IfThenZeroElse(vanishes, reciprocal(one_and_exp(x))));
}

// ln(m) = f - f^2 / 2 + f^3 * P(f) with f = m - 1, for m between the roots of 1/2 and 2.
constexpr size_t kLogTerms = 9;
constexpr float kLogP[kLogTerms] = {0.0733252913f, -0.116599292f, 0.116346627f,
                                    -0.123967007f, 0.142511562f,  -0.166691512f,
                                    0.200006887f,  -0.249999806f, 0.333333313f};
constexpr float kExpm1P[] = {0.000199088929f, 0.00139345345f, 0.00833328441f,
                             0.0416664556f,   0.166666672f,   0.5f};
constexpr float kSinP[] = {-0.000195815635f, 0.0083327191f, -0.166666642f};
constexpr float kCosP[] = {2.45415795e-05f, -0.00138882734f, 0.0416666642f};
constexpr float kAtanP[] = {0.00156575302f, -0.00949292909f, 0.0269613639f, -0.0496280678f,
                            0.0707152411f,  -0.0894565135f,  0.110909767f,  -0.14284271f,
                            0.199999601f,   -0.333333343f};
constexpr float kPi = 3.14159265f;

// x = 2^exponent * (1 + less), with 1 + less between the square roots of 1/2 and 2. Arbitrary
// unless x is positive and finite.
struct PowerOfTwo {
  Vec exponent, less;
};
HWY_INLINE PowerOfTwo split(Vec x) {
  const hn::RebindToSigned<Tag> ints;
  const auto is_small = hn::Lt(x, constant(0x1p-126f));
  const auto bits = hn::BitCast(ints, hn::IfThenElse(is_small, hn::Mul(x, constant(0x1p23f)), x));
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(ints, 0x3f3504f3)));
  const Vec m = hn::BitCast(kTag, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const Vec shift = hn::IfThenElseZero(is_small, constant(-23));
  return {hn::Add(hn::ConvertTo(kTag, exponent), shift), hn::Sub(m, constant(1))};
}

// ln(x) = exponent * ln(2) + of_m. Arbitrary where split() is; log_limits() corrects that.
struct Logarithm {
  Vec exponent, of_m;
};
HWY_INLINE Logarithm parts_of_log(Vec x) {
  const PowerOfTwo parts = split(x);
  const Vec f = parts.less, square = hn::Mul(f, f);
  const Vec rest =
      hn::MulAdd(hn::Mul(square, f), polynomial(f, kLogP), hn::Mul(square, constant(-0.5f)));
  return {parts.exponent, hn::Add(f, rest)};
}

// Corrects the result of a logarithm, to any base above 1, for x that is not finite and positive.
HWY_INLINE Vec log_limits(Vec x, Vec result) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Vec zero = hn::Zero(kTag);
  const Vec low = hn::IfThenElse(hn::Eq(x, zero), constant(-kInfinity), result);
  const Vec high =
      hn::IfThenElse(hn::Lt(x, constant(kInfinity)), low, x);  // Infinity and NaN stay.
  return hn::IfThenElse(hn::Lt(x, zero), constant(std::numeric_limits<float>::quiet_NaN()), high);
}

HWY_INLINE Vec log_of(Vec x) {
  const Logarithm log = parts_of_log(x);
  const Vec low = hn::MulAdd(log.exponent, constant(portable::kLn2Low), log.of_m);
  return log_limits(x, hn::MulAdd(log.exponent, constant(portable::kLn2High), low));
}
HWY_INLINE Vec log2_of(Vec x) {
  const Logarithm log = parts_of_log(x);
  return log_limits(x, hn::MulAdd(log.of_m, constant(portable::kLog2E), log.exponent));
}
HWY_INLINE Vec log10_of(Vec x) {
  const Logarithm log = parts_of_log(x);
  const Vec of_m = hn::Mul(log.of_m, constant(0.434294482f));
  return log_limits(x, hn::MulAdd(log.exponent, constant(0.301029996f), of_m));
}

// ln(1 + x): the logarithm of the rounded sum u, plus what rounding lost, divided by u.
HWY_INLINE Vec log1p_of(Vec x) {
  const Vec one = constant(1);
  const Vec u = hn::Add(one, x);
  const Vec lost = hn::Div(hn::Sub(x, hn::Sub(u, one)), u);
  const auto is_usual = hn::And(hn::Gt(u, hn::Zero(kTag)),
                                hn::Lt(u, constant(std::numeric_limits<float>::infinity())));
  return hn::Add(log_of(u), hn::IfThenElseZero(is_usual, lost));
}

// e^x - 1 = 2^n * (e^r - 1) + (2^n - 1), both halved, so that the largest results do not overflow.
HWY_INLINE Vec expm1_of(Vec x) {
  using namespace portable;
  const hn::RebindToUnsigned<Tag> bits;
  const Vec y = at_most(at_least(x, constant(-30)), constant(kExpOverflows));
  const Vec shifted = hn::MulAdd(y, constant(kLog2E), constant(kRound));
  const Vec n = hn::Sub(shifted, constant(kRound));
  const Vec r = hn::NegMulAdd(n, constant(kLn2Low), hn::NegMulAdd(n, constant(kLn2High), y));
  const Vec half = hn::BitCast(kTag, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
  const Vec less = hn::MulAdd(hn::Mul(r, r), polynomial(r, kExpm1P), r);
  const Vec sum = hn::MulAdd(half, less, hn::Sub(half, constant(0.5f)));
  return hn::IfThenElse(hn::Eq(x, hn::Zero(kTag)), x, hn::Add(sum, sum));
}

// The sine of x + quarters * pi / 2. REQUIRES: |x| < kLargestAngle, or NaN.
constexpr float kLargestAngle = 8192;
HWY_INLINE Vec sin_of(Vec x, int32_t quarters) {
  const hn::RebindToSigned<Tag> ints;
  constexpr float kToInteger = 12582912.0f;  // 1.5 * 2^23: the sum's last bit stands for 1.
  const Vec shifted = hn::MulAdd(x, constant(0.636619747f), constant(kToInteger));
  const Vec n = hn::Sub(shifted, constant(kToInteger));
  Vec r = hn::NegMulAdd(n, constant(1.5703125f), x);
  r = hn::NegMulAdd(n, constant(0.000483751297f), r);
  r = hn::NegMulAdd(n, constant(7.549790126e-08f), r);
  const auto quarter = hn::Add(hn::BitCast(ints, shifted), hn::Set(ints, quarters));
  const auto one = hn::Set(ints, 1), two = hn::Set(ints, 2);
  const auto is_cosine = hn::RebindMask(kTag, hn::Eq(hn::And(quarter, one), one));
  const Vec sign = hn::BitCast(kTag, hn::ShiftLeft<30>(hn::And(quarter, two)));
  const Vec z = hn::Mul(r, r);
  const Vec sine = hn::MulAdd(hn::Mul(z, r), polynomial(z, kSinP), r);
  const Vec cosine = hn::MulAdd(hn::Mul(z, z), polynomial(z, kCosP),
                                hn::NegMulAdd(z, constant(0.5f), constant(1)));
  return hn::Xor(hn::IfThenElse(is_cosine, cosine, sine), sign);
}

// Sine or cosine. Angles that are too large for pi / 2 in three parts are computed by the C
// library.
template <bool kCosine>
HWY_INLINE Vec sin_or_cos(Vec x) {
  const auto is_large = hn::Ge(hn::Abs(x), constant(kLargestAngle));
  if (HWY_LIKELY(hn::AllFalse(kTag, is_large))) return sin_of(x, kCosine ? 1 : 0);
  HWY_ALIGN float lanes[kLanes];
  hn::Store(x, kTag, lanes);
  for (float& each : lanes) each = kCosine ? std::cos(each) : std::sin(each);
  return hn::Load(kTag, lanes);
}

HWY_INLINE Vec atan_of(Vec x) {
  const Vec size = hn::Abs(x);
  const auto is_large = hn::Gt(size, constant(1));
  const Vec y = hn::IfThenElse(is_large, hn::Div(constant(1), size), size);
  const Vec z = hn::Mul(y, y);
  const Vec angle = hn::MulAdd(hn::Mul(z, y), polynomial(z, kAtanP), y);
  const Vec reflected = hn::IfThenElse(is_large, hn::Sub(constant(kPi / 2), angle), angle);
  return hn::CopySign(reflected, x);
}

// asin(x) = x + x^3 * P(x^2) up to 1/2; from there it is the rest of a right angle.
constexpr float kAsinP[] = {0.042163199f, 0.0241813111f, 0.0454700254f, 0.07495300f, 0.166667521f};
HWY_INLINE Vec asin_series(Vec x) {
  const Vec z = hn::Mul(x, x);
  return hn::MulAdd(hn::Mul(z, x), polynomial(z, kAsinP), x);
}
HWY_INLINE Vec half_chord(Vec x) {
  return hn::Sqrt(hn::Mul(hn::Sub(constant(1), x), constant(0.5f)));
}
HWY_INLINE Vec asin_of(Vec x) {
  const Vec size = hn::Abs(x);
  const auto is_small = hn::Le(size, constant(0.5f));
  const Vec angle = asin_series(hn::IfThenElse(is_small, size, half_chord(size)));
  const Vec rest = hn::NegMulAdd(constant(2), angle, constant(kPi / 2));
  return hn::CopySign(hn::IfThenElse(is_small, angle, rest), x);
}
HWY_INLINE Vec acos_of(Vec x) {
  const Vec size = hn::Abs(x);
  const auto is_small = hn::Le(size, constant(0.5f));
  const Vec angle = asin_series(hn::IfThenElse(is_small, x, half_chord(size)));
  const Vec twice = hn::Add(angle, angle);
  const Vec large = hn::IfThenElse(hn::Lt(x, hn::Zero(kTag)), hn::Sub(constant(kPi), twice), twice);
  return hn::IfThenElse(is_small, hn::Sub(constant(kPi / 2), angle), large);
}

// e^x / 2, as half of a square, so that it does not overflow before sinh and cosh do.
HWY_INLINE Vec half_exp(Vec x) {
  const Vec root = exp_of(hn::Mul(x, constant(0.5f)));
  return hn::Mul(hn::Mul(root, constant(0.5f)), root);
}
HWY_INLINE Vec sinh_of(Vec x) {
  const Vec size = hn::Abs(x), less = expm1_of(size);
  const Vec twice = hn::Add(less, hn::Div(less, hn::Add(less, constant(1))));
  const auto is_large = hn::Gt(size, constant(20));
  const Vec result = hn::IfThenElse(is_large, half_exp(size), hn::Mul(twice, constant(0.5f)));
  return hn::CopySign(result, x);
}
HWY_INLINE Vec cosh_of(Vec x) {
  const Vec half = half_exp(hn::Abs(x));
  return hn::Add(half, hn::Div(constant(0.25f), half));
}

// The inverse functions, from ln(1 + t), which is exact for small t. That of a large number is the
// logarithm of twice the number, whose square would overflow.
HWY_INLINE Vec log1p_or_twice(Vec x, Vec t) {
  const auto is_large = hn::Gt(x, constant(1e9f));
  const Vec more = hn::IfThenElseZero(is_large, constant(0.693147181f));
  return hn::Add(log1p_of(hn::IfThenElse(is_large, x, t)), more);
}
HWY_INLINE Vec asinh_of(Vec x) {
  const Vec size = hn::Abs(x), square = hn::Mul(x, x), one = constant(1);
  const Vec root = hn::Sqrt(hn::Add(square, one));
  const Vec t = hn::Add(size, hn::Div(square, hn::Add(root, one)));
  return hn::CopySign(log1p_or_twice(size, t), x);
}
HWY_INLINE Vec acosh_of(Vec x) {
  const Vec less = hn::Sub(x, constant(1));
  const Vec root = hn::Mul(hn::Sqrt(less), hn::Sqrt(hn::Add(x, constant(1))));
  return log1p_or_twice(x, hn::Add(less, root));
}
HWY_INLINE Vec atanh_of(Vec x) {
  const Vec size = hn::Abs(x);
  const Vec ratio = hn::Div(hn::Add(size, size), hn::Sub(constant(1), size));
  return hn::CopySign(hn::Mul(log1p_of(ratio), constant(0.5f)), x);
}

HWY_INLINE float sum_of(Vec x) { return hn::GetLane(hn::SumOfLanes(kTag, x)); }
HWY_INLINE float max_of(Vec x) { return hn::GetLane(hn::MaxOfLanes(kTag, x)); }

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#endif  // Once per instruction set.
