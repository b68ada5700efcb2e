// exp, tanh, erf, swish and sums over vectors. The formulas and their coefficients are those of the
// portable kernels (kernels_portable/vector_math.h). NaN gives NaN, infinities give the limits:
// values are bounded by comparing, for minimum and maximum of a NaN differ between processors.

#if defined(TAPER_VECTOR_MATH_FORM) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPER_VECTOR_MATH_FORM
#undef TAPER_VECTOR_MATH_FORM
#else
#define TAPER_VECTOR_MATH_FORM
#endif

#include "kernels_optimized/vectors.h"
#include "kernels_portable/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

HWY_INLINE Vec constant(float value) { return hn::Set(kTag, value); }

HWY_INLINE Vec at_least(Vec x, Vec low) { return hn::IfThenElse(hn::Lt(x, low), low, x); }
HWY_INLINE Vec at_most(Vec x, Vec high) { return hn::IfThenElse(hn::Gt(x, high), high, x); }

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

HWY_INLINE Vec sigmoid_of(Vec x) {
  const Vec one = constant(1);
  return hn::Div(one, hn::Add(one, exp_of(hn::Neg(x))));
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

// 1 / x for 1 <= x < 2^126: a guess and one step of Newton's method, since dividing takes longer
// than all the rest.
HWY_INLINE Vec reciprocal(Vec x) {
  const Vec guess = hn::ApproximateReciprocal(x);
  return hn::Mul(guess, hn::NegMulAdd(x, guess, constant(2)));
}

HWY_INLINE Vec swish_of(Vec x) {
  // exp(87) is below 2^126; what is left there is no more than its inverse.
  const auto vanishes = hn::Lt(x, constant(-87));
  const Vec power = exp_of(hn::Neg(at_least(x, constant(-87))));
  const Vec share = reciprocal(hn::Add(constant(1), power));
  return hn::Mul(x, hn::IfThenZeroElse(vanishes, share));
}

HWY_INLINE float sum_of(Vec x) { return hn::GetLane(hn::SumOfLanes(kTag, x)); }
HWY_INLINE float max_of(Vec x) { return hn::GetLane(hn::MaxOfLanes(kTag, x)); }

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#endif  // Once per instruction set.
