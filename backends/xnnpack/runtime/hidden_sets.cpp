// XNNPACK asks cpuinfo, whose answers are variables.

#include "backends/xnnpack/runtime/hidden_sets.h"

#include <cpuinfo.h>

#if defined(TAPER_OPTIMIZED)
#include "kernels_optimized/engine/max_isa.h"
#endif

namespace taper::xnnpack {

#if defined(TAPER_OPTIMIZED) && (CPUINFO_ARCH_X86 || CPUINFO_ARCH_X86_64)

namespace {

using optimized::Isa;
using Answers = cpuinfo_x86_isa;

// What XNNPACK asks for, and the first set that has it.
struct Feature {
  bool Answers::*answer;
  Isa isa;
};
constexpr Feature kFeatures[] = {
    {&Answers::avx, Isa::kAvx2},
    {&Answers::f16c, Isa::kAvx2},
    {&Answers::fma3, Isa::kAvx2},
    {&Answers::avx2, Isa::kAvx2},
    {&Answers::avx512f, Isa::kAvx512},
    {&Answers::avx512cd, Isa::kAvx512},
    {&Answers::avx512bw, Isa::kAvx512},
    {&Answers::avx512dq, Isa::kAvx512},
    {&Answers::avx512vl, Isa::kAvx512},
    {&Answers::avx512vbmi, Isa::kAvx512Vnni},
    {&Answers::avx512vnni, Isa::kAvx512Vnni},
    {&Answers::gfni, Isa::kAvx512Vnni},
    {&Answers::avxvnni, Isa::kAvx512Vnni},
    {&Answers::avx_vnni_int8, Isa::kAll},
    {&Answers::avx512bf16, Isa::kAll},
    {&Answers::avx512fp16, Isa::kAll},
    {&Answers::amx_tile, Isa::kAll},
    {&Answers::amx_int8, Isa::kAll},
    {&Answers::amx_bf16, Isa::kAll},
    {&Answers::amx_fp16, Isa::kAll},
};

}  // namespace

bool hide_sets() {
  if (!cpuinfo_initialize()) return false;
  for (const Feature& feature : kFeatures) {
    if (!optimized::may_use(feature.isa)) cpuinfo_isa.*feature.answer = false;
  }
  return true;
}

#else

bool hide_sets() { return cpuinfo_initialize(); }

#endif

}  // namespace taper::xnnpack
