// Matrix products and convolutions of int8 for processors with AVX2 and nothing newer for bytes.
// They are compiled into XNNPACK in place of its own microkernels and have the same interface.
//
// One instruction multiplies 16 pairs of 16-bit numbers and adds neighbours. XNNPACK's kernels keep
// eight steps of one column in a vector: they widen the rows' bytes for every column, and pad the
// channels of each pixel to eight. Here a vector has two steps of eight columns, so a pixel is
// padded to two, and two steps of a row are one broadcast; its bytes are widened once for many
// columns.
//
// A tile has six rows and 16 columns: twelve vectors of sums, two of weights. Rows are gathered and
// widened in slabs that stay in the first-level cache; between slabs the sums are stored.
//
// Packed weights have XNNPACK's layout: for every 16 columns an int32 each, their biases or the
// sums of their weights, then for every two steps 16 x 2 weights, then the scales.

#include "backends/xnnpack/library/s8_tiles.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/xnnpack/library/s8_panels.h"

namespace {

constexpr size_t kRows = 6;
constexpr size_t kColumns = 16;
constexpr size_t kLanes = 8;
constexpr size_t kSlab = 512;   // Steps.
constexpr size_t kPanels = 16;  // Panels of 16 columns that share gathered rows.

using Sums = int32_t[kRows][kColumns];

constexpr size_t round_up_2(size_t n) { return (n + 1) & ~size_t{1}; }

// Rows of widened steps. A store may pass the end of a row.
struct Steps {
  alignas(32) int16_t rows[kRows][kSlab + kColumns];
};

// Up to seven bytes, then zeros, without reading any other.
uint64_t few_bytes(const int8_t* from, size_t count) {
  uint64_t all = 0;
  size_t have = 0;
  const auto take = [&](auto part) {
    if ((count & sizeof(part)) == 0) return;
    std::memcpy(&part, from + have, sizeof(part));
    all |= uint64_t{part} << 8 * have;
    have += sizeof(part);
  };
  take(uint32_t{});
  take(uint16_t{});
  take(uint8_t{});
  return all;
}

// Widens `count` bytes; up to seven numbers behind them become 0.
[[gnu::always_inline]] inline void widen(const int8_t* from, size_t count, int16_t* to) {
  for (; count >= 16; count -= 16, from += 16, to += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_cvtepi8_epi16(bytes));
  }
  const auto put_8 = [&](__m128i bytes) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_cvtepi8_epi16(bytes));
    to += 8;
  };
  if (count >= 8) {
    put_8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    from += 8;
    count -= 8;
  }
  if (count > 0) put_8(_mm_cvtsi64_si128(static_cast<int64_t>(few_bytes(from, count))));
}

// The rows of a matrix.
struct Matrix {
  const int8_t* rows;
  size_t row_bytes, count, bytes;

  size_t steps() const { return round_up_2(bytes); }

  // Widens steps from `first` on.
  void gather(size_t first, size_t steps, Steps& to) const {
    const size_t some = std::min(steps, bytes - first);
    for (size_t i = 0; i < count; ++i) widen(rows + i * row_bytes + first, some, to.rows[i]);
  }
};

// The rows of a convolution: for each tap of the window a group of kHeight pointers.
template <size_t kHeight>
struct Window {
  Pixels pixels;
  size_t count, taps, channels;

  size_t steps() const { return taps * round_up_2(channels); }

  const int8_t* at(size_t tap, size_t row) const { return pixels.at(tap * kHeight + row); }

  void gather(size_t first, size_t steps, Steps& to) const {
    switch (channels) {
      case 1:
        return gather_few<1>(first, steps, to);
      case 2:
        return gather_few<2>(first, steps, to);
      case 3:
        return gather_few<3>(first, steps, to);
      case 4:
        return gather_few<4>(first, steps, to);
      default:
        return gather_many(first, steps, to);
    }
  }

  // Pixels of few channels, which no slab divides.
  template <size_t kChannels>
  void gather_few(size_t first, size_t steps, Steps& to) const {
    constexpr size_t kSteps = round_up_2(kChannels);
    static_assert(kSlab % kSteps == 0, "no slab divides a pixel");
    for (size_t i = 0; i < count; ++i) {
      int16_t* row = to.rows[i];
      const size_t end = (first + steps) / kSteps;
      for (size_t tap = first / kSteps; tap < end; ++tap, row += kSteps) {
        const int8_t* pixel = at(tap, i);
        for (size_t k = 0; k < kChannels; ++k) row[k] = pixel[k];
        if (kSteps > kChannels) row[kChannels] = 0;
      }
    }
  }

  void gather_many(size_t first, size_t steps, Steps& to) const {
    size_t tap = first / round_up_2(channels);
    size_t channel = first % round_up_2(channels);
    for (size_t done = 0; done < steps; ++tap, channel = 0) {
      const size_t some = std::min(round_up_2(channels) - channel, steps - done);
      for (size_t i = 0; i < count; ++i) {
        const size_t bytes = std::min(some, channels - channel);
        widen(at(tap, i) + channel, bytes, to.rows[i] + done);
      }
      done += some;
    }
  }
};

// Adds the products of a slab to the sums of a panel of kCount rows.
template <size_t kCount>
void add_products(const Steps& steps, size_t count, bool is_first, const int8_t* weights,
                  Sums& sums) {
  __m256i left[kCount], right[kCount];
  const auto place = [&](size_t i, size_t column) {
    return reinterpret_cast<__m256i*>(&sums[i][column]);
  };
#pragma clang loop unroll(full)
  for (size_t i = 0; i < kCount; ++i) {
    left[i] = is_first ? _mm256_setzero_si256() : _mm256_load_si256(place(i, 0));
    right[i] = is_first ? _mm256_setzero_si256() : _mm256_load_si256(place(i, kLanes));
  }
  for (size_t k = 0; k < count; k += 2, weights += 2 * kColumns) {
    const auto* bytes = reinterpret_cast<const __m128i*>(weights);
    const __m256i left_weights = _mm256_cvtepi8_epi16(_mm_loadu_si128(bytes));
    const __m256i right_weights = _mm256_cvtepi8_epi16(_mm_loadu_si128(bytes + 1));
#pragma clang loop unroll(full)
    for (size_t i = 0; i < kCount; ++i) {
      int32_t two;
      std::memcpy(&two, &steps.rows[i][k], sizeof(two));
      const __m256i factors = _mm256_set1_epi32(two);
      left[i] = _mm256_add_epi32(left[i], _mm256_madd_epi16(factors, left_weights));
      right[i] = _mm256_add_epi32(right[i], _mm256_madd_epi16(factors, right_weights));
    }
  }
#pragma clang loop unroll(full)
  for (size_t i = 0; i < kCount; ++i) {
    _mm256_store_si256(place(i, 0), left[i]);
    _mm256_store_si256(place(i, kLanes), right[i]);
  }
}

using AddProducts = decltype(add_products<1>);

AddProducts* add_products_of(size_t rows) {
  static constexpr AddProducts* kAll[kRows] = {add_products<1>, add_products<2>, add_products<3>,
                                               add_products<4>, add_products<5>, add_products<6>};
  return kAll[rows - 1];
}

__m256i load_8(const int32_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

// Converts sums to int8 results.
class Int8Results : public Int8Form {
 public:
  using Int8Form::Int8Form;

  void store(const Sums& sums, size_t rows, size_t columns, const Panel& panel, int8_t* c,
             size_t row_bytes) const {
    for (size_t i = 0; i < rows; ++i, c += row_bytes) {
      // Packing gives columns 0 to 3, 8 to 11, 4 to 7 and 12 to 15.
      const __m256i words = _mm256_permute4x64_epi64(
          _mm256_packs_epi32(round(sums[i], panel, 0), round(sums[i], panel, kLanes)), 0xd8);
      const __m256i moved = _mm256_adds_epi16(words, _mm256_set1_epi16(zero_point_));
      const __m128i packed =
          _mm_packs_epi16(_mm256_castsi256_si128(moved), _mm256_extracti128_si256(moved, 1));
      alignas(16) int8_t bytes[kColumns];
      const __m128i limited = _mm_max_epi8(packed, _mm_set1_epi8(min_));
      if (columns >= kColumns) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(c), limited);
        continue;
      }
      _mm_store_si128(reinterpret_cast<__m128i*>(bytes), limited);
      std::memcpy(c, bytes, columns);
    }
  }

 private:
  [[gnu::always_inline]] __m256i round(const int32_t* sums, const Panel& panel,
                                       size_t column) const {
    const __m256i sum = _mm256_add_epi32(load_8(sums + column), load_8(panel.biases + column));
    const __m256 scales = _mm256_loadu_ps(panel.scales + column);
    const __m256 max = _mm256_set1_ps(static_cast<float>(max_ - zero_point_));
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), scales), max));
  }
};

// Converts sums to float results.
class FloatResults : public FloatForm {
 public:
  using FloatForm::FloatForm;

  void store(const Sums& sums, size_t rows, size_t columns, const Panel& panel, float* c,
             size_t row_bytes) const {
    for (size_t i = 0; i < rows; ++i) {
      float* row = advance(c, i * row_bytes);
      for (size_t j = 0; j < std::min(columns, kColumns); j += kLanes) {
        const __m256 result = convert(load_8(&sums[i][j]), rows_[i * next_], panel, j);
        if (columns - j >= kLanes) {
          _mm256_storeu_ps(row + j, result);
          continue;
        }
        alignas(32) float some[kLanes];
        _mm256_store_ps(some, result);
        std::memcpy(row + j, some, (columns - j) * sizeof(float));
      }
    }
  }

 private:
  [[gnu::always_inline]] __m256 convert(__m256i sum, const xnn_qd8_quantization_params& row,
                                        const Panel& panel, size_t j) const {
    const __m256i zero =
        _mm256_mullo_epi32(load_8(panel.biases + j), _mm256_set1_epi32(row.zero_point));
    const __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_add_epi32(sum, zero)),
                                       _mm256_set1_ps(row.inv_scale));
    const __m256 result = _mm256_fmadd_ps(value, _mm256_loadu_ps(panel.scales + j),
                                          _mm256_loadu_ps(panel.scales + kColumns + j));
    return _mm256_min_ps(_mm256_set1_ps(limits_->scalar.max),
                         _mm256_max_ps(_mm256_set1_ps(limits_->scalar.min), result));
  }
};

// Computes all columns of a few rows, kPanels panels at a time.
template <typename Rows, typename Results>
void multiply(size_t columns, const Rows& source, const void* weights,
              Place<typename Results::Result> place, const Results& results) {
  const size_t steps = source.steps();
  const Panels<kColumns, Results> panels(weights, steps);
  AddProducts* add = add_products_of(source.count);
  Steps slab;
  alignas(32) Sums sums[kPanels];
  constexpr size_t kGroup = kPanels * kColumns;
  for (size_t begin = 0; begin < columns; begin += kGroup) {
    const size_t end = std::min(columns, begin + kGroup);
    for (size_t first = 0; first < steps; first += kSlab) {
      const size_t some = std::min(steps - first, kSlab);
      // The only slab of a row still lies there from the columns before.
      if (begin == 0 || steps > kSlab) source.gather(first, some, slab);
      for (size_t j = begin; j < end; j += kColumns) {
        add(slab, some, first == 0, panels.at(j).weights + first * kColumns,
            sums[(j - begin) / kColumns]);
      }
    }
    for (size_t j = begin; j < end; j += kColumns) {
      results.store(sums[(j - begin) / kColumns], source.count, end - j, panels.at(j), place.c,
                    place.row_bytes);
      place.c = advance(place.c, place.panel_bytes);
    }
  }
}

template <size_t kHeight>
Window<kHeight> window(size_t rows, size_t channels, size_t pointer_bytes, const Pixels& pixels) {
  return {pixels, rows, pointer_bytes / (kHeight * sizeof(void*)), channels};
}

template <size_t kHeight>
void qs8_igemm(size_t mr, size_t nc, size_t kc, size_t ks, const int8_t** a, const void* w,
               int8_t* c, size_t cm_stride, size_t cn_stride, size_t a_offset, const int8_t* zero,
               const xnn_qs8_qc8w_conv_minmax_params* params) {
  multiply(nc, window<kHeight>(mr, kc, ks, {a, a_offset, zero, zero}), w,
           Place<int8_t>{c, cm_stride, cn_stride}, Int8Results(params));
}

template <size_t kHeight>
void qd8_igemm(size_t mr, size_t nc, size_t kc, size_t ks, const int8_t** a, const void* w,
               float* c, size_t cm_stride, size_t cn_stride, size_t a_offset, const int8_t* zero,
               const int8_t* zero_data, const xnn_f32_minmax_params* params,
               const xnn_qd8_quantization_params* quantization) {
  multiply(nc, window<kHeight>(mr, kc, ks, {a, a_offset, zero, zero_data}), w,
           Place<float>{c, cm_stride, cn_stride}, FloatResults(params, quantization, 0));
}

}  // namespace

extern "C" {

void taper_qs8_gemm_6x16c2__avx2(size_t mr, size_t nc, size_t kc, const int8_t* a, size_t a_stride,
                                 const void* w, int8_t* c, size_t cm_stride, size_t cn_stride,
                                 const xnn_qs8_qc8w_conv_minmax_params* params) {
  multiply(nc, Matrix{a, a_stride, mr, kc}, w, Place<int8_t>{c, cm_stride, cn_stride},
           Int8Results(params));
}

void taper_qs8_igemm_6x16c2__avx2(size_t mr, size_t nc, size_t kc, size_t ks, const int8_t** a,
                                  const void* w, int8_t* c, size_t cm_stride, size_t cn_stride,
                                  size_t a_offset, const int8_t* zero,
                                  const xnn_qs8_qc8w_conv_minmax_params* params) {
  qs8_igemm<kRows>(mr, nc, kc, ks, a, w, c, cm_stride, cn_stride, a_offset, zero, params);
}

void taper_qs8_igemm_1x16c2__avx2(size_t mr, size_t nc, size_t kc, size_t ks, const int8_t** a,
                                  const void* w, int8_t* c, size_t cm_stride, size_t cn_stride,
                                  size_t a_offset, const int8_t* zero,
                                  const xnn_qs8_qc8w_conv_minmax_params* params) {
  qs8_igemm<1>(mr, nc, kc, ks, a, w, c, cm_stride, cn_stride, a_offset, zero, params);
}

void taper_qd8_f32_gemm_6x16c2__avx2(size_t mr, size_t nc, size_t kc, const int8_t* a,
                                     size_t a_stride, const void* w, float* c, size_t cm_stride,
                                     size_t cn_stride, const xnn_f32_minmax_params* params,
                                     const xnn_qd8_quantization_params* quantization) {
  multiply(nc, Matrix{a, a_stride, mr, kc}, w, Place<float>{c, cm_stride, cn_stride},
           FloatResults(params, quantization, 1));
}

void taper_qd8_f32_igemm_6x16c2__avx2(size_t mr, size_t nc, size_t kc, size_t ks, const int8_t** a,
                                      const void* w, float* c, size_t cm_stride, size_t cn_stride,
                                      size_t a_offset, const int8_t* zero, const int8_t* zero_data,
                                      const xnn_f32_minmax_params* params,
                                      const xnn_qd8_quantization_params* quantization) {
  qd8_igemm<kRows>(mr, nc, kc, ks, a, w, c, cm_stride, cn_stride, a_offset, zero, zero_data, params,
                   quantization);
}

void taper_qd8_f32_igemm_1x16c2__avx2(size_t mr, size_t nc, size_t kc, size_t ks, const int8_t** a,
                                      const void* w, float* c, size_t cm_stride, size_t cn_stride,
                                      size_t a_offset, const int8_t* zero, const int8_t* zero_data,
                                      const xnn_f32_minmax_params* params,
                                      const xnn_qd8_quantization_params* quantization) {
  qd8_igemm<1>(mr, nc, kc, ks, a, w, c, cm_stride, cn_stride, a_offset, zero, zero_data, params,
               quantization);
}

}  // extern "C"
