// Reads the switch once; if two threads do it at the same time, both store the same value.

#include "kernels_optimized/engine/max_isa.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace taper::optimized {
namespace {

constexpr const char* kNames[] = {"baseline", "avx2", "avx512", "avx512vnni"};

std::atomic<int> known_limit{-1};  // An Isa, or -1 before the environment was read.

Isa limit_of_environment() {
#if defined(__x86_64__) || defined(__i386__)
  if (const char* name = std::getenv("TAPER_MAX_ISA")) return isa_of(name).value_or(Isa::kAll);
#endif
  return Isa::kAll;
}

}  // namespace

std::optional<Isa> isa_of(const char* name) {
  int isa = 0;
  for (const char* each : kNames) {
    if (std::strcmp(each, name) == 0) return static_cast<Isa>(isa);
    ++isa;
  }
  return std::nullopt;
}

Isa max_isa() {
  int known = known_limit.load(std::memory_order_relaxed);
  if (known < 0) {
    known = static_cast<int>(limit_of_environment());
    known_limit.store(known, std::memory_order_relaxed);
  }
  return static_cast<Isa>(known);
}

}  // namespace taper::optimized
