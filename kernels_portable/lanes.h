// 16 bytes of T in one register: SSE2, Neon and the like. The compiler splits it where there is
// none. Spelled out for the few loops where the automatic choice varies fourfold between compilers
// and optimisation levels.

#pragma once

#include <cstdint>
#include <type_traits>

namespace taper::portable {

template <typename T>
struct Lanes {
  // Integers are computed as unsigned ones, which may wrap around.
  using Element = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                              std::enable_if<true, T>>::type;
  typedef Element Type __attribute__((vector_size(16)));
  static constexpr int64_t kCount = 16 / sizeof(T);
};

}  // namespace taper::portable
