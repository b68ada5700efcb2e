// Which instructions of bytes an x86-64 processor has beside those of its level (dispatch.h), as
// far as TAPER_MAX_ISA allows (max_isa.h); for files whose code is compiled for them function by
// function. Other processors have none of them.

#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

#include "kernels_optimized/engine/dispatch.h"
#include "kernels_optimized/engine/max_isa.h"
#endif

namespace taper::optimized {

#if defined(__x86_64__)

// VPDPBUSD on 512 bits, which adds four products of bytes to each sum.
inline bool has_vnni() {
  return level() >= Level::kAvx512 && may_use(Isa::kAvx512Vnni) &&
         __builtin_cpu_supports("avx512vnni");
}

// VPERMB and VPERMI2B on 512 bits, which look bytes up in tables.
inline bool has_vbmi() {
  return level() >= Level::kAvx512 && may_use(Isa::kAvx512Vnni) &&
         __builtin_cpu_supports("avx512vbmi");
}

// AMX with products of bytes. A process has to ask the system for it before it uses it.
inline bool has_byte_tiles() {
  static const bool has = [] {
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 25 & 1) != 0;
  }();
  return may_use(Isa::kAll) && has;
}

#else

inline bool has_vnni() { return false; }
inline bool has_vbmi() { return false; }
inline bool has_byte_tiles() { return false; }

#endif

}  // namespace taper::optimized
