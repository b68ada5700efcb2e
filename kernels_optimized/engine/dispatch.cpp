// Detection of the processor's features. It happens once; if two threads do it at the same time,
// both store the same value.

#include "kernels_optimized/engine/dispatch.h"

#include <algorithm>
#include <atomic>

#include "kernels_optimized/engine/max_isa.h"

namespace taper::optimized {
namespace {

std::atomic<Level> level_limit{Level::kAvx512};
std::atomic<int> known_level{-1};  // The processor's Level, or -1 before detection.

Level level_of_processor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
  if (!avx2 || !may_use(Isa::kAvx2)) return Level::kBaseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  return avx512 && may_use(Isa::kAvx512) ? Level::kAvx512 : Level::kAvx2;
#else
  return Level::kBaseline;
#endif
}

}  // namespace

Level level() {
  int known = known_level.load(std::memory_order_relaxed);
  if (known < 0) {
    known = static_cast<int>(level_of_processor());
    known_level.store(known, std::memory_order_relaxed);
  }
  return std::min(level_limit.load(std::memory_order_relaxed), static_cast<Level>(known));
}

void limit_level(Level limit) { level_limit.store(limit, std::memory_order_relaxed); }

}  // namespace taper::optimized
