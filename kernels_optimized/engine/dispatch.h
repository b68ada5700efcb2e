// Run-time dispatch: chooses, of the compiled forms of a function, the best for this processor.
//
// Files with vector code are compiled once per instruction set (Highway's foreach_target), each
// form in a namespace of its own. Such a file begins with
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "kernels_optimized/x.cpp"
//   #include "kernels_optimized/engine/dispatch.h"
//   #include "hwy/foreach_target.h"
//   #include "hwy/highway.h"
//
// keeps its vector code between #if TAPER_VECTOR_TARGET and #endif, and ends, under #if HWY_ONCE,
// with plain functions that call TAPER_CHOOSE(Type, function). The result is a pointer to the
// chosen form, or null if the processor supports nothing better than what the portable kernels are
// compiled for; the portable kernels run then.
//
// Dispatch is done here and not by Highway's library, so that only its headers are needed. On
// x86-64 there are forms for AVX2 with FMA and for AVX-512; on other processors there is one, for
// what the compiler's flags allow (64-bit Arm: Neon). 32-bit Arm's is compiled but not chosen: its
// vectors divide by estimates, and have no denormal numbers.

#pragma once

// Targets that gain little over the portable kernels, or whose vectors have no fixed length.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif

#define TAPER_VECTOR_TARGET (HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR)

#if defined(__x86_64__) || defined(__i386__)
#define TAPER_CHOOSE(Type, function)                                                     \
  ::taper::optimized::choose<Type>(HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX2(function), \
                                   TAPER_BASELINE(function))
#else
#define TAPER_CHOOSE(Type, function) \
  ::taper::optimized::choose<Type>(nullptr, nullptr, TAPER_BASELINE(function))
#endif

// The form for the compiler's own flags. TAPER_HAS_BASELINE must be expanded before it is joined to
// a name, and HWY_STATIC_DISPATCH used only where it is 1; hence the chain of macros.
#define TAPER_BASELINE_0(function) nullptr
#define TAPER_BASELINE_1(function) &HWY_STATIC_DISPATCH(function)
#define TAPER_BASELINE(function) TAPER_BASELINE_OF(TAPER_HAS_BASELINE, function)
#define TAPER_BASELINE_OF(has, function) TAPER_BASELINE_JOIN(has, function)
#define TAPER_BASELINE_JOIN(has, function) TAPER_BASELINE_##has(function)
#if defined(__AVX2__) || defined(__ARM_NEON) || defined(__wasm_simd128__) || defined(__VSX__)
#define TAPER_HAS_BASELINE 1
#else
#define TAPER_HAS_BASELINE 0
#endif

namespace taper::optimized {

enum class Level : int { kBaseline, kAvx2, kAvx512 };

// The levels that processors of this kind may have; tests try each.
#if defined(__x86_64__) || defined(__i386__)
constexpr Level kLevels[] = {Level::kBaseline, Level::kAvx2, Level::kAvx512};
#else
constexpr Level kLevels[] = {Level::kBaseline};
#endif

// The best level that this processor supports and TAPER_MAX_ISA allows (max_isa.h), or the limit if
// that is lower.
Level level();
// For tests: pretends that the processor supports no more than `limit`. May be called on any
// thread.
void limit_level(Level limit);

template <typename Function>
Function choose(Function avx512, Function avx2, Function baseline) {
#if defined(__arm__)
  baseline = nullptr;
#endif
  const Level best = level();
  if (best >= Level::kAvx512 && avx512 != nullptr) return avx512;
  if (best >= Level::kAvx2 && avx2 != nullptr) return avx2;
  return baseline;
}

}  // namespace taper::optimized
