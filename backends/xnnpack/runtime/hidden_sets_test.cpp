// The switch TAPER_MAX_ISA, in processes of their own: it is read once.

#include "backends/xnnpack/runtime/hidden_sets.h"

#include <cpuinfo.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/xnnpack/runtime/stages/pages.h"

// Windows has no processes of this kind.
#if defined(TAPER_OPTIMIZED) && CPUINFO_ARCH_X86_64 && !defined(_WIN32)

#include "kernels_optimized/engine/dispatch.h"
#include "kernels_optimized/engine/max_isa.h"

namespace taper::xnnpack {
namespace {

using optimized::Level;

// Whether the processor has a set, as the compiler's library finds it, and whether XNNPACK and the
// kernels see it.
struct Seen {
  bool avx2 = __builtin_cpu_supports("avx2");
  bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
  bool vnni = __builtin_cpu_supports("avx512vnni");
};

// Ends the process, with 0 if exactly the sets up to `limit` are seen.
[[noreturn]] void look(const char* limit) {
  setenv("TAPER_MAX_ISA", limit, 1);
  const optimized::Isa isa = optimized::isa_of(limit).value_or(optimized::Isa::kAll);
  if (!start_library()) std::exit(2);
  const Seen has;
  const bool avx2 = has.avx2 && isa >= optimized::Isa::kAvx2;
  const bool avx512 = has.avx512 && isa >= optimized::Isa::kAvx512;
  const bool vnni = has.vnni && isa >= optimized::Isa::kAvx512Vnni;
  const bool as_told = cpuinfo_has_x86_avx2() == avx2 && cpuinfo_has_x86_avx512bw() == avx512 &&
                       cpuinfo_has_x86_avx512vnni() == vnni &&
                       (optimized::level() >= Level::kAvx2) == avx2 &&
                       (optimized::level() >= Level::kAvx512) == avx512;
  const bool unit = cpuinfo_has_x86_amx_int8() || cpuinfo_has_x86_avx512fp16();
  std::exit(as_told && (isa == optimized::Isa::kAll || !unit) ? 0 : 1);
}

TEST(HiddenSets, OfXnnpackAndTheKernels) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* limit : {"baseline", "avx2", "avx512", "avx512vnni", "none"}) {
    EXPECT_EXIT(look(limit), testing::ExitedWithCode(0), "") << limit;
  }
}

TEST(HiddenSets, Names) {
  EXPECT_EQ(optimized::isa_of("baseline"), optimized::Isa::kBaseline);
  EXPECT_EQ(optimized::isa_of("avx512vnni"), optimized::Isa::kAvx512Vnni);
  EXPECT_EQ(optimized::isa_of("AVX2"), std::nullopt);
  EXPECT_EQ(optimized::isa_of(""), std::nullopt);
}

}  // namespace
}  // namespace taper::xnnpack

#endif
