// Converts the sums of a panel of 32 columns to results, for AVX-512.

#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "backends/xnnpack/library/s8_panels.h"

namespace {

constexpr size_t kVector = 16;  // The sums of a vector, of which a row of a panel has two.

// The sums of a row.
struct RowOfSums {
  __m512i left, right;
};

// Those of the first 16 columns of four rows.
struct LeftOfRows {
  __m512i rows[4];
};

// A mask of `count` ones, at most 64.
inline __mmask64 ones(size_t count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }

// Converts sums to int8 results.
class Int8Results : public Int8Form {
 public:
  using Int8Form::Int8Form;

  // Stores rows `c` and, if `is_two`, the one behind it.
  [[gnu::always_inline]] void store(const RowOfSums& upper, const RowOfSums& lower, bool is_two,
                                    size_t columns, const Panel& panel, int8_t* c,
                                    size_t row_bytes) const {
    const auto wanted = static_cast<__mmask32>(ones(columns));
    // Packing gives four columns of the left half, four of the right, then those of the next row.
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes = _mm512_max_epi8(
        _mm512_packs_epi16(pack(upper, panel), pack(lower, panel)), _mm512_set1_epi8(min_));
    const __m512i both = _mm512_permutexvar_epi32(order, bytes);
    _mm256_mask_storeu_epi8(c, wanted, _mm512_castsi512_si256(both));
    if (is_two) {
      _mm256_mask_storeu_epi8(c + row_bytes, wanted, _mm512_extracti64x4_epi64(both, 1));
    }
  }

  // Stores the first columns, at most 16, of up to four rows from `c` on.
  [[gnu::always_inline]] void store_left(const LeftOfRows& sums, size_t rows, size_t columns,
                                         const Panel& panel, int8_t* c, size_t row_bytes) const {
    const auto wanted = static_cast<__mmask16>(ones(columns));
    const auto pack = [&](size_t i) __attribute__((always_inline)) {
      return _mm512_adds_epi16(
          _mm512_packs_epi32(round(sums.rows[i], panel, 0), round(sums.rows[i + 1], panel, 0)),
          _mm512_set1_epi16(zero_point_));
    };
    // Packing gives four columns of each row in turn.
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes =
        _mm512_max_epi8(_mm512_packs_epi16(pack(0), pack(2)), _mm512_set1_epi8(min_));
    const __m512i all = _mm512_permutexvar_epi32(order, bytes);
    _mm_mask_storeu_epi8(c, wanted, _mm512_castsi512_si128(all));
    if (rows > 1) _mm_mask_storeu_epi8(c + row_bytes, wanted, _mm512_extracti32x4_epi32(all, 1));
    if (rows > 2)
      _mm_mask_storeu_epi8(c + 2 * row_bytes, wanted, _mm512_extracti32x4_epi32(all, 2));
    if (rows > 3)
      _mm_mask_storeu_epi8(c + 3 * row_bytes, wanted, _mm512_extracti32x4_epi32(all, 3));
  }

 private:
  [[gnu::always_inline]] __m512i pack(const RowOfSums& row, const Panel& panel) const {
    const __m512i packed =
        _mm512_packs_epi32(round(row.left, panel, 0), round(row.right, panel, kVector));
    return _mm512_adds_epi16(packed, _mm512_set1_epi16(zero_point_));
  }

  [[gnu::always_inline]] __m512i round(__m512i sums, const Panel& panel, size_t column) const {
    const __m512i sum = _mm512_add_epi32(sums, _mm512_loadu_si512(panel.biases + column));
    const __m512 scales = _mm512_loadu_ps(panel.scales + column);
    const __m512 max = _mm512_set1_ps(static_cast<float>(max_ - zero_point_));
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), scales), max));
  }
};

// Converts sums to float results.
class FloatResults : public FloatForm {
 public:
  // `larger` is what was added to the steps of all rows.
  FloatResults(const xnn_f32_minmax_params* limits, const xnn_qd8_quantization_params* rows,
               size_t next, int32_t larger = 0)
      : FloatForm(limits, rows, next), larger_(larger) {}

  // Stores row `i`, which begins at `c`.
  [[gnu::always_inline]] void store(const RowOfSums& sums, size_t i, size_t columns,
                                    const Panel& panel, float* c) const {
    store_half(sums.left, i, columns, panel, 0, c);
    if (columns > kVector) store_half(sums.right, i, columns, panel, kVector, c);
  }

 private:
  [[gnu::always_inline]] void store_half(__m512i sums, size_t i, size_t columns, const Panel& panel,
                                         size_t j, float* c) const {
    const xnn_qd8_quantization_params& row = rows_[i * next_];
    const auto wanted = static_cast<__mmask16>(ones(columns - j) & ones(kVector));
    const __m512i zero = _mm512_mullo_epi32(_mm512_loadu_si512(panel.biases + j),
                                            _mm512_set1_epi32(row.zero_point + larger_));
    const __m512 value = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_add_epi32(sums, zero)),
                                       _mm512_set1_ps(row.inv_scale));
    const __m512 result = _mm512_fmadd_ps(value, _mm512_loadu_ps(panel.scales + j),
                                          _mm512_loadu_ps(panel.scales + 2 * kVector + j));
    const __m512 limited =
        _mm512_min_ps(_mm512_set1_ps(limits_->scalar.max),
                      _mm512_max_ps(_mm512_set1_ps(limits_->scalar.min), result));
    _mm512_mask_storeu_ps(c + j, wanted, limited);
  }

  int32_t larger_;
};

}  // namespace
