// Maximum and minimum on x86 that are NaN if an operand is NaN; the instructions themselves return
// the second operand in that case.

#pragma once

#include <immintrin.h>

#define TAPER_SSE_EXTREME(name)                                     \
  static inline __m128 taper_##name##_128(__m128 a, __m128 b) {     \
    return _mm_or_ps(_mm_##name##_ps(a, b), _mm_cmpunord_ps(a, b)); \
  }

TAPER_SSE_EXTREME(max)
TAPER_SSE_EXTREME(min)

#ifdef __AVX__
#define TAPER_AVX_EXTREME(name)                                                       \
  static inline __m256 taper_##name##_256(__m256 a, __m256 b) {                       \
    return _mm256_or_ps(_mm256_##name##_ps(a, b), _mm256_cmp_ps(a, b, _CMP_UNORD_Q)); \
  }

TAPER_AVX_EXTREME(max)
TAPER_AVX_EXTREME(min)
#endif

#ifdef __AVX512F__
#define TAPER_AVX512_EXTREME(name)                                     \
  static inline __m512 taper_##name##_512(__m512 a, __m512 b) {        \
    const __mmask16 is_nan = _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);   \
    return _mm512_mask_add_ps(_mm512_##name##_ps(a, b), is_nan, a, b); \
  }

TAPER_AVX512_EXTREME(max)
TAPER_AVX512_EXTREME(min)
#endif
