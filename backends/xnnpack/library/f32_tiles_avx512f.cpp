// Float tiles and max pools for AVX-512. A tile of 14 x 32 fills the 32 registers; with a pointer
// for each row it is 12 x 32.

#include <immintrin.h>

#include <cstddef>

using Vector = __m512;

static inline Vector load(const float* from) { return _mm512_loadu_ps(from); }
static inline Vector splat(const float* from) { return _mm512_set1_ps(*from); }
static inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
// Keeps NaN.
static inline Vector clamp(Vector value, Vector min, Vector max) {
  return _mm512_min_ps(max, _mm512_max_ps(min, value));
}
static inline void store(float* to, Vector value) { _mm512_storeu_ps(to, value); }
static inline void store_some(float* to, Vector value, size_t count) {
  const unsigned mask = count >= 16 ? 0xFFFFu : (1u << count) - 1;
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask), value);
}

static inline Vector load_some(const float* from, size_t count) {
  const unsigned mask = count >= 16 ? 0xFFFFu : (1u << count) - 1;
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from);
}

#include "backends/xnnpack/library/nan_extremes.h"

static inline Vector maximum(Vector a, Vector b) { return taper_max_512(a, b); }

#include "backends/xnnpack/library/f32_tiles.h"
#include "backends/xnnpack/library/max_pool.h"
#include "backends/xnnpack/library/tall_tile.h"

TAPER_F32_GEMM(taper_f32_gemm_14x32__avx512f, 14)
TAPER_F32_IGEMM(taper_f32_igemm_12x32__avx512f, 12)
TAPER_F32_IGEMM(taper_f32_igemm_6x32__avx512f, 6)
TAPER_F32_MAX_POOL(taper_f32_max_pool__avx512f)
