// Element-wise computations that a backend's library needs several passes for, in one pass.
//
// REQUIRES of all: has_vectors() (kernels_optimized/cores/gemm.h). `out` may be an input. Threads:
// they access only the memory that is passed.

#pragma once

#include <cstdint>

namespace taper::optimized {

// Functions of one element. kSwish is x * sigmoid(x).
enum class Function : uint8_t {
  kExp,
  kLog,
  kSin,
  kCos,
  kSqrt,
  kRsqrt,
  kGelu,
  kGeluTanh,
  kHardswish,
  kSigmoid,
  kSwish,
  kTanh
};
void apply(Function function, const float* in, float* out, int64_t count);

// out = clamp(in * scale + shift, low, high), for rows of `width` elements; scale and shift have
// `width` entries, which all rows share.
void scale_rows(const float* in, int64_t rows, int64_t width, const float* scale,
                const float* shift, float low, float high, float* out);

// out = clamp(a + b, low, high)
void add_clamped(const float* a, const float* b, float low, float high, float* out, int64_t count);

}  // namespace taper::optimized
