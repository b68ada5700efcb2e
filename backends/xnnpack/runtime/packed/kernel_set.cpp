// Queries the processor features that XNNPACK uses to select kernels, and the kinds of cores.

#include "backends/xnnpack/runtime/packed/kernel_set.h"

#include <cpuinfo.h>

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "taper/content_hash.h"

namespace taper::xnnpack {
namespace {

// The build passes the hash of the library.
constexpr char kLibrary[] = TAPER_XNNPACK_LIBRARY;

using Question = bool (*)();

// A process may use the matrix unit if it has requested that and was not refused by an old kernel
// or a sandbox. XNNPACK requests it.
[[maybe_unused]] bool may_use_matrix_unit() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr int kGetPermissions = 0x1022, kTileData = 18;
  uint64_t permitted = 0;
  return syscall(SYS_arch_prctl, kGetPermissions, &permitted) == 0 &&
         (permitted >> kTileData & 1) != 0;
#else
  return true;
#endif
}

#if CPUINFO_ARCH_X86 || CPUINFO_ARCH_X86_64
constexpr Question kQuestions[] = {
    cpuinfo_has_x86_sse2,       cpuinfo_has_x86_ssse3,         cpuinfo_has_x86_sse4_1,
    cpuinfo_has_x86_avx,        cpuinfo_has_x86_f16c,          cpuinfo_has_x86_fma3,
    cpuinfo_has_x86_avx2,       cpuinfo_has_x86_avx512f,       cpuinfo_has_x86_avx512cd,
    cpuinfo_has_x86_avx512bw,   cpuinfo_has_x86_avx512dq,      cpuinfo_has_x86_avx512vl,
    cpuinfo_has_x86_avx512vbmi, cpuinfo_has_x86_avx512vnni,    cpuinfo_has_x86_gfni,
    cpuinfo_has_x86_avx512fp16, cpuinfo_has_x86_amx_tile,      cpuinfo_has_x86_amx_int8,
    cpuinfo_has_x86_avxvnni,    cpuinfo_has_x86_avx_vnni_int8, may_use_matrix_unit,
};
#else
constexpr Question kQuestions[] = {
    cpuinfo_has_arm_v6,         cpuinfo_has_arm_vfpv2,
    cpuinfo_has_arm_vfpv3,      cpuinfo_has_arm_neon,
    cpuinfo_has_arm_neon_fp16,  cpuinfo_has_arm_neon_fma,
    cpuinfo_has_arm_neon_v8,    cpuinfo_has_arm_neon_fp16_arith,
    cpuinfo_has_arm_fp16_arith, cpuinfo_has_arm_neon_bf16,
    cpuinfo_has_arm_neon_dot,   cpuinfo_has_arm_i8mm,
    cpuinfo_has_arm_sve,        cpuinfo_has_arm_sve2,
    cpuinfo_has_arm_sme,        cpuinfo_has_arm_sme2,
};
#endif

}  // namespace

uint64_t kernel_set() {
  uint64_t answers = 0;
  for (const Question question : kQuestions) answers = answers << 1 | (question() ? 1u : 0u);
  uint64_t hash = hash_of(answers);
  for (uint32_t i = 0; i < cpuinfo_get_uarchs_count(); ++i) {
    hash = hash_of(static_cast<uint32_t>(cpuinfo_get_uarch(i)->uarch), hash);
  }
  return content_hash({reinterpret_cast<const uint8_t*>(kLibrary), sizeof(kLibrary)}, hash);
}

}  // namespace taper::xnnpack
