// 16 bytes of T in one register: SSE2, Neon and the like. The compiler splits it where there is
// none. Spelled out for the few loops where the automatic choice varies fourfold between compilers
// and optimisation levels.

#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels_portable/compute.h"

namespace taper::portable {

template <typename T>
struct Lanes {
  // Integers are computed as unsigned ones, which may wrap around.
  using Element = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                              std::enable_if<true, T>>::type;
  typedef Element Type __attribute__((vector_size(16)));
  static constexpr int64_t kCount = 16 / sizeof(T);
};

// The sum of a[i] * b[i], in several sums at once.
template <typename T>
inline T dot(const T* a, const T* b, int64_t count) {
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
