// What backends compute in one pass where their library takes several.
//
// REQUIRES of all: has_vectors() (kernels_optimized/gemm.h). `out` may be an input. Threads: they
// touch only what they name.

#pragma once

#include <cstdint>

namespace taper::optimized {

// What their library computes one by one.
enum class Function : uint8_t { kExp, kLog, kSin, kCos, kSqrt, kRsqrt };
void apply(Function function, const float* in, float* out, int64_t count);

// in * sigmoid(in)
void swish(const float* in, float* out, int64_t count);

// in * scale + shift, but at least `low` and at most `high`; rows of `width` elements, each of
// which has its own entry of scale and shift.
void scale_rows(const float* in, int64_t rows, int64_t width, const float* scale,
                const float* shift, float low, float high, float* out);

// a + b, but at least `low` and at most `high`.
void add_clamped(const float* a, const float* b, float low, float high, float* out, int64_t count);

}  // namespace taper::optimized
