// Numbers for tests that need no more than that they differ.

#pragma once

#include <cstdint>
#include <vector>

namespace taper::test {

// Numbers from -1.5 to 1.5, in an order that `step` makes.
inline std::vector<float> numbers(int64_t count, int64_t step) {
  std::vector<float> all(static_cast<size_t>(count));
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<float>(static_cast<int64_t>(i) * step % 97 - 48) / 32;
  }
  return all;
}

}  // namespace taper::test
