// The dtypes that the kernels of this build support, known at compile time.
//
// Selective build compiles every file of kernels with TAPER_DTYPES, in which bit i stands for the
// dtype with number i and is set if a program passes it to one of the file's operators. Without
// TAPER_DTYPES all dtypes are supported. Kernels ask this header wherever they choose code by
// dtype, so that code for other dtypes is not compiled; this works for every kernel library, your
// own included. Each Kernel carries the set it was built with, and Method::load refuses, by name, a
// program that passes another dtype to it.
//
// A kernel computes in double, in float (16-bit floats too) or in int64_t (all integers and bool):
//
//   if (in_double(type)) return run<double>(...);
//   if (in_float(type)) return run<float>(...);
//   return run<int64_t>(...);
//
// All functions have internal linkage, and so must every function in a header that calls them:
// files compiled for different sets are linked into one program.

#pragma once

#include <cstdint>

#include "taper/scalar_type.h"

namespace taper {

using DtypeSet = uint32_t;

constexpr DtypeSet kAllDtypes = 0xffffffffu;

// The set that holds `type` alone.
static constexpr DtypeSet dtype_bit(ScalarType type) {
  return DtypeSet{1} << (static_cast<uint32_t>(type) & 31);
}

static constexpr bool holds(DtypeSet set, ScalarType type) { return (set & dtype_bit(type)) != 0; }

#ifdef TAPER_DTYPES
constexpr DtypeSet kSelectedDtypes = TAPER_DTYPES;
#else
constexpr DtypeSet kSelectedDtypes = kAllDtypes;
#endif

static constexpr bool is_selected(ScalarType type) { return holds(kSelectedDtypes, type); }

// Whether a selected dtype is computed in double, in float, and in int64_t.
constexpr bool kInDouble = is_selected(ScalarType::kDouble);
constexpr bool kInFloat = is_selected(ScalarType::kFloat) || is_selected(ScalarType::kHalf) ||
                          is_selected(ScalarType::kBFloat16);
constexpr DtypeSet kFloatingDtypes =
    dtype_bit(ScalarType::kHalf) | dtype_bit(ScalarType::kFloat) | dtype_bit(ScalarType::kDouble) |
    dtype_bit(ScalarType::kBFloat16) | dtype_bit(ScalarType::kComplexHalf) |
    dtype_bit(ScalarType::kComplexFloat) | dtype_bit(ScalarType::kComplexDouble);
constexpr bool kInInt = (kSelectedDtypes & ~kFloatingDtypes) != 0;

#ifdef TAPER_SEEN_DTYPES
// A build for tests records every dtype by which code is chosen.
extern DtypeSet seen_dtypes;
static inline void note_dtype(ScalarType type) { seen_dtypes |= dtype_bit(type); }
#else
static inline void note_dtype(ScalarType) {}
#endif

static inline bool in_double(ScalarType type) {
  note_dtype(type);
  return kInDouble && type == ScalarType::kDouble;
}
// REQUIRES: not in_double(type).
static inline bool in_float(ScalarType type) { return kInFloat && (!kInInt || is_floating(type)); }

}  // namespace taper
