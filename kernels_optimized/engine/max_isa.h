// A switch for tests and figures that hides the wider instruction sets of an x86 processor, from
// the kernels and from XNNPACK alike: TAPER_MAX_ISA in the environment names the widest to be used.
//
//   baseline    what every x86-64 processor has, and SSE4.1 where XNNPACK asks for it
//   avx2        and AVX2, FMA and F16C
//   avx512      and AVX-512 F, CD, BW, DQ and VL, as of Skylake
//   avx512vnni  and the rest of AVX-512 but bfloat16 and float16: VNNI, VBMI and GFNI
//
// Without it, or with another name, all that the processor has is used. On other processors it does
// nothing.

#pragma once

#include <optional>

namespace taper::optimized {

enum class Isa : int { kBaseline, kAvx2, kAvx512, kAvx512Vnni, kAll };

// The set of that name; nullopt if there is none.
std::optional<Isa> isa_of(const char* name);

// The widest set to be used. The environment is read at the first call; may be called on any
// thread.
Isa max_isa();

inline bool may_use(Isa isa) { return isa <= max_isa(); }

}  // namespace taper::optimized
