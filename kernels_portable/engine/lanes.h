// Vectors of 16 bytes of T, which fit one register of SSE2, Neon and the like; where there is no
// such register the compiler splits them. They are spelled out for the few loops whose speed
// otherwise varies fourfold between compilers and optimisation levels.

#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels_portable/engine/compute.h"

namespace taper::portable {

template <typename T>
struct Lanes {
  // Integers are computed as unsigned, because signed overflow is undefined.
  using Element = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                              std::enable_if<true, T>>::type;
  typedef Element Type __attribute__((vector_size(16)));
  static constexpr int64_t kCount = 16 / sizeof(T);
};

// The sum of a[i] * b[i], accumulated in several vectors at once. Not inlined, since it is long.
template <typename T>
[[gnu::noinline]] T dot(const T* a, const T* b, int64_t count) {
  using Vector = typename Lanes<T>::Type;
  constexpr int64_t kStep = 4 * Lanes<T>::kCount;
  Vector sums[4] = {};
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    Vector x[4], y[4];
    std::memcpy(x, a + i, sizeof(x));
    std::memcpy(y, b + i, sizeof(y));
    for (int j = 0; j < 4; ++j) sums[j] += x[j] * y[j];
  }
  T lanes[Lanes<T>::kCount];
  sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  std::memcpy(lanes, sums, sizeof(lanes));
  T total = T{0};
  for (const T lane : lanes) total = wrap_add(lane, total);
  for (; i < count; ++i) total = multiply_add(a[i], b[i], total);
  return total;
}

}  // namespace taper::portable
