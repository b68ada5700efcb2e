// Element-wise computations in one pass; see fused.h.

#include "kernels_optimized/cores/fused.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/fused.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// The last vector may be a part of one. It has no code of its own, since there are many functions.
template <typename Apply>
HWY_INLINE void for_vectors(int64_t count, Apply apply) {
  for (int64_t i = 0; i < count; i += kLanes) apply(i, count - i);
}

template <Function kFunction>
HWY_INLINE Vec value_of(Vec x) {
  if constexpr (kFunction == Function::kExp) return exp_of(x);
  if constexpr (kFunction == Function::kLog) return log_of(x);
  if constexpr (kFunction == Function::kSin) return sin_or_cos<false>(x);
  if constexpr (kFunction == Function::kCos) return sin_or_cos<true>(x);
  if constexpr (kFunction == Function::kSqrt) return hn::Sqrt(x);
  if constexpr (kFunction == Function::kRsqrt) return hn::Div(constant(1), hn::Sqrt(x));
  if constexpr (kFunction == Function::kHardswish) return hardswish_of(x);
  if constexpr (kFunction == Function::kSigmoid) return sigmoid_of(x);
  if constexpr (kFunction == Function::kSwish) return swish_of(x);
  if constexpr (kFunction == Function::kTanh) return tanh_of(x);
  if constexpr (kFunction == Function::kGelu) return gelu_of(x);
  if constexpr (kFunction == Function::kGeluTanh) return gelu_by_tanh(x);
}

template <Function kFunction>
void run(const float* in, float* out, int64_t count) {
  for_vectors(count, [=](int64_t i, int64_t n) HWY_ATTR {
    store_count(value_of<kFunction>(load_count(in + i, n)), out + i, n);
  });
}

}  // namespace

void apply_form(Function function, const float* in, float* out, int64_t count) {
  switch (function) {
    case Function::kExp:
      return run<Function::kExp>(in, out, count);
    case Function::kLog:
      return run<Function::kLog>(in, out, count);
    case Function::kSin:
      return run<Function::kSin>(in, out, count);
    case Function::kCos:
      return run<Function::kCos>(in, out, count);
    case Function::kSqrt:
      return run<Function::kSqrt>(in, out, count);
    case Function::kRsqrt:
      return run<Function::kRsqrt>(in, out, count);
    case Function::kGelu:
      return run<Function::kGelu>(in, out, count);
    case Function::kGeluTanh:
      return run<Function::kGeluTanh>(in, out, count);
    case Function::kHardswish:
      return run<Function::kHardswish>(in, out, count);
    case Function::kSigmoid:
      return run<Function::kSigmoid>(in, out, count);
    case Function::kSwish:
      return run<Function::kSwish>(in, out, count);
    case Function::kTanh:
      return run<Function::kTanh>(in, out, count);
  }
}

void add_clamped_form(const float* a, const float* b, float low, float high, float* out,
                      int64_t count) {
  const Vec least = constant(low), most = constant(high);
  for_vectors(count, [=](int64_t i, int64_t n) HWY_ATTR {
    const Vec sum = hn::Add(load_count(a + i, n), load_count(b + i, n));
    store_count(at_most(at_least(sum, least), most), out + i, n);
  });
}

void scale_rows_form(const float* in, int64_t rows, int64_t width, const float* scale,
                     const float* shift, float low, float high, float* out) {
  const Vec least = constant(low), most = constant(high);
  for (int64_t row = 0; row < rows; ++row, in += width, out += width) {
    for_vectors(width, [=](int64_t i, int64_t n) HWY_ATTR {
      const Vec sum =
          hn::MulAdd(load_count(in + i, n), load_count(scale + i, n), load_count(shift + i, n));
      store_count(at_most(at_least(sum, least), most), out + i, n);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Apply = void (*)(Function, const float*, float*, int64_t);
using ScaleRows = void (*)(const float*, int64_t, int64_t, const float*, const float*, float, float,
                           float*);
using AddClamped = void (*)(const float*, const float*, float, float, float*, int64_t);

}  // namespace

void apply(Function function, const float* in, float* out, int64_t count) {
  TAPER_CHOOSE(Apply, apply_form)(function, in, out, count);
}

void scale_rows(const float* in, int64_t rows, int64_t width, const float* scale,
                const float* shift, float low, float high, float* out) {
  TAPER_CHOOSE(ScaleRows, scale_rows_form)(in, rows, width, scale, shift, low, high, out);
}

void add_clamped(const float* a, const float* b, float low, float high, float* out, int64_t count) {
  TAPER_CHOOSE(AddClamped, add_clamped_form)(a, b, low, high, out, count);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
