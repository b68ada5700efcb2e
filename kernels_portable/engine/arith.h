// Integer arithmetic with a defined answer for every input: it wraps around like PyTorch's.

#pragma once

#include <cstdint>

namespace taper::portable {

inline int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrap_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t wrap_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t wrap_neg(int64_t a) { return wrap_sub(0, a); }

// The same names for floats, so that one template serves both.
inline float wrap_add(float a, float b) { return a + b; }
inline float wrap_sub(float a, float b) { return a - b; }
inline float wrap_mul(float a, float b) { return a * b; }
inline float wrap_neg(float a) { return -a; }
inline double wrap_add(double a, double b) { return a + b; }
inline double wrap_sub(double a, double b) { return a - b; }
inline double wrap_mul(double a, double b) { return a * b; }
inline double wrap_neg(double a) { return -a; }

// a / b rounded toward zero. REQUIRES: b != 0.
inline int64_t div_trunc(int64_t a, int64_t b) { return b == -1 ? wrap_neg(a) : a / b; }

// a - b * div_trunc(a, b): it has the sign of a. REQUIRES: b != 0.
inline int64_t mod_trunc(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

// a / b rounded toward negative infinity. REQUIRES: b != 0.
inline int64_t div_floor(int64_t a, int64_t b) {
  const int64_t remainder = mod_trunc(a, b);
  return div_trunc(a, b) - ((remainder != 0 && (remainder < 0) != (b < 0)) ? 1 : 0);
}

// a - b * div_floor(a, b): it has the sign of b. REQUIRES: b != 0.
inline int64_t mod_floor(int64_t a, int64_t b) {
  const int64_t remainder = mod_trunc(a, b);
  return (remainder != 0 && (remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

// True and *product = a * b if that fits. REQUIRES: a, b >= 0.
inline bool checked_mul(int64_t a, int64_t b, int64_t* product) {
  return !__builtin_mul_overflow(a, b, product);
}
inline bool checked_add(int64_t a, int64_t b, int64_t* sum) {
  return !__builtin_add_overflow(a, b, sum);
}

}  // namespace taper::portable
