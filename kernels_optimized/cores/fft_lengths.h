// How the length of a Fourier transform is divided into factors, and the memory that this takes.

#pragma once

#include <algorithm>
#include <cstdint>

namespace taper::optimized {

inline int64_t factor_of(int64_t n) {
  if (n % 4 == 0) return 4;
  if (n % 2 == 0) return 2;
  for (int64_t r = 3; r * r <= n; r += 2) {
    if (n % r == 0) return r;
  }
  return n;
}

// The last factor of n if it is a prime so large that Bluestein's algorithm is faster than the
// definition; 0 otherwise.
inline int64_t large_prime_of(int64_t n) {
  constexpr int64_t kLargestByDefinition = 80;
  for (int64_t r; n > 1; n /= r) {
    r = factor_of(n);
    if (r == n) return r > kLargestByDefinition ? r : 0;
  }
  return 0;
}

// The length of the convolution that stands for a transform of length r: at least 2 r - 1, with
// factors 2, 3 and 5 only.
inline int64_t padded_length(int64_t r) {
  int64_t best = INT64_MAX;
  for (const int64_t odd : {1, 3, 5}) {
    int64_t length = odd;
    while (length < 2 * r - 1) length *= 2;
    best = std::min(best, length);
  }
  return best;
}

// The numbers that make_chirp() needs for `lanes` lines.
inline int64_t chirp_numbers(int64_t n, int64_t lanes) {
  const int64_t r = large_prime_of(n);
  return r == 0 ? 0 : padded_length(r) * (4 + 4 * lanes);
}

}  // namespace taper::optimized
