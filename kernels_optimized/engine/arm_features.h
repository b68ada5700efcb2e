// Which instructions a 64-bit ARM processor has beside those that all have; for files whose code is
// compiled for them function by function.

#pragma once

#if defined(__aarch64__)

#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>

#include <cstddef>
#endif

namespace taper::optimized {
namespace internal {

// Linux has a bit for each feature in its auxiliary vector, under one of two keys, and Apple's
// systems have a name.
enum class HwcapKey : unsigned long { kFirst = 16, kSecond = 26 };  // AT_HWCAP and AT_HWCAP2.

inline bool has_arm_feature([[maybe_unused]] HwcapKey key, [[maybe_unused]] int bit,
                            [[maybe_unused]] const char* name) {
#if defined(__linux__)
  return (getauxval(static_cast<unsigned long>(key)) >> bit & 1) != 0;
#elif defined(__APPLE__)
  int has = 0;
  size_t size = sizeof(has);
  return sysctlbyname(name, &has, &size, nullptr, 0) == 0 && has != 0;
#else
  return false;
#endif
}

}  // namespace internal

// SDOT, which adds four products of bytes to each sum.
inline bool has_sdot() {
  static const bool has =
      internal::has_arm_feature(internal::HwcapKey::kFirst, 20, "hw.optional.arm.FEAT_DotProd");
  return has;
}

// BFDOT, which adds two products of bfloat16 to each sum.
inline bool has_bfdot() {
  static const bool has =
      internal::has_arm_feature(internal::HwcapKey::kSecond, 14, "hw.optional.arm.FEAT_BF16");
  return has;
}

}  // namespace taper::optimized

#endif
