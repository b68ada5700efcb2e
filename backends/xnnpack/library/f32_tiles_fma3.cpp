// Float tiles and max pools for AVX with FMA. A tile of 6 x 16 fills the 16 registers.

#include <immintrin.h>

#include <cstddef>

using Vector = __m256;

static inline Vector load(const float* from) { return _mm256_loadu_ps(from); }
static inline Vector splat(const float* from) { return _mm256_broadcast_ss(from); }
static inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
// Keeps NaN.
static inline Vector clamp(Vector value, Vector min, Vector max) {
  return _mm256_min_ps(max, _mm256_max_ps(min, value));
}
static inline void store(float* to, Vector value) { _mm256_storeu_ps(to, value); }
// A mask of the first `count` lanes. REQUIRES: count is less than 8.
static inline __m256i first(size_t count) {
  alignas(32) static const int kMasks[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMasks + 8 - count));
}
static inline void store_some(float* to, Vector value, size_t count) {
  if (count >= 8) return store(to, value);
  _mm256_maskstore_ps(to, first(count), value);
}
static inline Vector load_some(const float* from, size_t count) {
  return count >= 8 ? load(from) : _mm256_maskload_ps(from, first(count));
}

#include "backends/xnnpack/library/nan_extremes.h"

static inline Vector maximum(Vector a, Vector b) { return taper_max_256(a, b); }

#include "backends/xnnpack/library/f32_tiles.h"
#include "backends/xnnpack/library/max_pool.h"
#include "backends/xnnpack/library/tall_tile.h"

TAPER_F32_GEMM(taper_f32_gemm_6x16__fma3, 6)
TAPER_F32_IGEMM(taper_f32_igemm_6x16__fma3, 6)
TAPER_F32_MAX_POOL(taper_f32_max_pool__fma3)
