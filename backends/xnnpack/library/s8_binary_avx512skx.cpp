// Sums and products of int8 tensors, element by element, 64 at a time with AVX-512. They are
// compiled into XNNPACK in place of its own microkernels, which compute 16 at a time, and have the
// same interface and arithmetic.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "backends/xnnpack/library/s8_tiles.h"
#include "xnnpack/microparams.h"

namespace {

constexpr size_t kBytes = 64;    // Of a vector.
constexpr size_t kQuarter = 16;  // The elements whose results are a vector of 32-bit integers.

// How results become bytes.
struct Bounds {
  __m512i zero_point;
  __m512i min, max;

  template <typename Params>
  explicit Bounds(const Params& params)
      : zero_point(_mm512_set1_epi16(params.output_zero_point)),
        min(_mm512_set1_epi8(params.output_min)),
        max(_mm512_set1_epi8(params.output_max)) {}

  [[gnu::always_inline]] __m512i half(__m512i first, __m512i second) const {
    return _mm512_adds_epi16(_mm512_packs_epi32(first, second), zero_point);
  }

  [[gnu::always_inline]] __m512i bytes(const __m512i (&results)[4]) const {
    // Packing gives four elements of each quarter in turn.
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i packed =
        _mm512_packs_epi16(half(results[0], results[1]), half(results[2], results[3]));
    return _mm512_permutexvar_epi32(order, _mm512_min_epi8(_mm512_max_epi8(packed, min), max));
  }
};

// result(a, b) is that of 16 elements, as integers without the zero point.
template <typename Result>
[[gnu::always_inline]] inline void each(size_t count, const int8_t* a, const int8_t* b, int8_t* to,
                                        const Bounds bounds, const Result result) {
  for (; count >= kBytes; count -= kBytes, a += kBytes, b += kBytes, to += kBytes) {
    __m512i results[4];
#pragma clang loop unroll(full)
    for (size_t i = 0; i < 4; ++i) {
      const auto load = [&](const int8_t* from) {
        const auto* quarter = reinterpret_cast<const __m128i*>(from + i * kQuarter);
        return _mm512_cvtepi8_epi32(_mm_loadu_si128(quarter));
      };
      results[i] = result(load(a), load(b));
    }
    _mm512_storeu_si512(to, bounds.bytes(results));
  }
  if (count == 0) return;
  const __mmask64 some = (1ull << count) - 1;
  __m512i results[4] = {};
  for (size_t i = 0; i * kQuarter < count; ++i) {
    const auto wanted = static_cast<__mmask16>(some >> i * kQuarter);
    const auto load = [&](const int8_t* from) {
      return _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(wanted, from + i * kQuarter));
    };
    results[i] = result(load(a), load(b));
  }
  _mm512_mask_storeu_epi8(to, some, bounds.bytes(results));
}

}  // namespace

extern "C" {

void taper_qs8_vadd__avx512skx(size_t batch, const int8_t* a, const int8_t* b, int8_t* output,
                               const struct xnn_qs8_add_minmax_params* params) {
  const auto& p = params->scalar;
  const __m512i bias = _mm512_set1_epi32(p.bias);
  const __m512i a_factor = _mm512_set1_epi32(p.a_multiplier);
  const __m512i b_factor = _mm512_set1_epi32(p.b_multiplier);
  const __m128i shift = _mm_cvtsi32_si128(p.shift);
  each(batch, a, b, output, Bounds(p), [=](__m512i x, __m512i y) {
    const __m512i sum = _mm512_add_epi32(bias, _mm512_mullo_epi32(x, a_factor));
    return _mm512_sra_epi32(_mm512_add_epi32(sum, _mm512_mullo_epi32(y, b_factor)), shift);
  });
}

void taper_qs8_vmul__avx512skx(size_t batch, const int8_t* a, const int8_t* b, int8_t* output,
                               const union xnn_qs8_mul_minmax_params* params) {
  const auto& p = params->scalar;
  const __m512i a_zero = _mm512_set1_epi32(p.a_zero_point);
  const __m512i b_zero = _mm512_set1_epi32(p.b_zero_point);
  const __m512 scale = _mm512_set1_ps(p.scale);
  each(batch, a, b, output, Bounds(p), [=](__m512i x, __m512i y) {
    const __m512i product =
        _mm512_mullo_epi32(_mm512_sub_epi32(x, a_zero), _mm512_sub_epi32(y, b_zero));
    return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(product), scale));
  });
}

}  // extern "C"
