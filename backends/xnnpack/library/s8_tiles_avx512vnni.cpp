// Matrix products and convolutions of int8 for processors with AVX-512's products of four bytes
// (VNNI) and no matrix unit. They are compiled into XNNPACK in place of its own microkernels and
// have the same interface.
//
// The instruction adds products of four adjacent bytes in each lane, and needs one factor without a
// sign, so 128 is added to steps of the rows; the packed biases make up for it. XNNPACK's kernels
// do that for every column, with an instruction that takes the place of a product, and pad the
// channels of each pixel to eight. Here it is done once for many columns, when rows are gathered; a
// pixel is padded to four.
//
// A tile has up to 14 rows and 32 columns: 28 vectors of sums, two of weights. Rows are gathered in
// slabs that stay in the first-level cache; between slabs the sums are stored.
//
// Packed weights have XNNPACK's layout: for every 32 columns an int32 each, their biases or the
// sums of their weights, then for every four steps 32 x 4 weights, then the scales.

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/xnnpack/library/s8_panels.h"
#include "backends/xnnpack/library/s8_results.h"
#include "backends/xnnpack/library/s8_tiles.h"

namespace {

constexpr size_t kRows = 14;
constexpr size_t kColumns = 2 * kVector;
constexpr size_t kGroup = 4;      // The steps that an instruction multiplies.
constexpr size_t kSlab = 1152;    // Steps: 128 channels of a 3 x 3 window.
constexpr size_t kPanels = 8;     // Panels that share gathered rows of several slabs.
constexpr size_t kAhead = 1024;   // The bytes of weights between those in use and those announced.
constexpr size_t kBytes = 64;     // Of a vector.
constexpr int32_t kLarger = 128;  // What is added to a step.

using Sums = int32_t[kRows][kColumns];

constexpr size_t round_up_4(size_t n) { return (n + 3) & ~size_t{3}; }

// Rows of steps without signs. A store may pass the end of a row.
struct Steps {
  alignas(kBytes) uint8_t rows[kRows][kSlab + kBytes];
};

// Copies of a few bytes without signs: up to 16, 32 or 64, each with a store of so many, since one
// into two lines of the cache takes longer.
struct Copy16 {
  __mmask16 bytes;
  [[gnu::always_inline]] void operator()(const int8_t* from, uint8_t* to) const {
    const __m128i some = _mm_maskz_loadu_epi8(bytes, from);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_xor_si128(some, _mm_set1_epi8(-128)));
  }
};
struct Copy32 {
  __mmask32 bytes;
  [[gnu::always_inline]] void operator()(const int8_t* from, uint8_t* to) const {
    const __m256i some = _mm256_maskz_loadu_epi8(bytes, from);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_xor_si256(some, _mm256_set1_epi8(-128)));
  }
};
struct Copy64 {
  __mmask64 bytes;
  [[gnu::always_inline]] void operator()(const int8_t* from, uint8_t* to) const {
    const __m512i some = _mm512_maskz_loadu_epi8(bytes, from);
    _mm512_storeu_si512(to, _mm512_xor_si512(some, _mm512_set1_epi8(-128)));
  }
};

struct CopyAll {
  [[gnu::always_inline]] void operator()(const int8_t* from, uint8_t* to) const {
    const __m512i all = _mm512_loadu_si512(from);
    _mm512_storeu_si512(to, _mm512_xor_si512(all, _mm512_set1_epi8(-128)));
  }
};

// Copies `bytes` bytes of each row, from `first` on, to steps from `to_step` on. Row i begins at
// at(i).
template <typename At>
[[gnu::always_inline]] inline void copy_rows(const At& at, size_t count, size_t first, size_t bytes,
                                             Steps& to, size_t to_step) {
  const size_t whole = (bytes - 1) / kBytes * kBytes, left = bytes - whole;
  const auto each = [&](auto copy_last) __attribute__((always_inline)) {
    uint8_t* place = to.rows[0] + to_step;
    for (size_t i = 0; i < count; ++i, place += sizeof(to.rows[0])) {
      const int8_t* from = at(i) + first;
      for (size_t done = 0; done < whole; done += kBytes) CopyAll()(from + done, place + done);
      copy_last(from + whole, place + whole);
    }
  };
  if (left == kBytes) return each(CopyAll());
  if (left > 32) return each(Copy64{ones(left)});
  if (left > 16) return each(Copy32{static_cast<__mmask32>(ones(left))});
  each(Copy16{static_cast<__mmask16>(ones(left))});
}

// The rows of a matrix.
struct Matrix {
  const int8_t* rows;
  size_t row_bytes, count, bytes;

  size_t steps() const { return round_up_4(bytes); }

  // Gathers steps from `first` on.
  void gather(size_t first, size_t steps, Steps& to) const {
    const Matrix from = *this;  // A copy, whose members no store can change.
    const auto at = [&](size_t i) { return from.rows + i * from.row_bytes; };
    copy_rows(at, from.count, first, std::min(steps, from.bytes - first), to, 0);
  }
};

// The rows of a convolution: for each tap of the window a group of kHeight pointers.
template <size_t kHeight>
struct Window {
  Pixels pixels;
  size_t count, taps, channels;

  size_t steps() const { return taps * round_up_4(channels); }

  void gather(size_t first, size_t steps, Steps& to) const {
    const Window from = *this;
    const size_t pixel_steps = round_up_4(from.channels);
    size_t channel = first % pixel_steps;
    size_t group = first / pixel_steps * kHeight;
    for (size_t done = 0; done < steps; group += kHeight, channel = 0) {
      const auto at = [&](size_t i) { return from.pixels.at(group + i); };
      const size_t some = std::min(pixel_steps - channel, steps - done);
      copy_rows(at, from.count, channel, std::min(some, from.channels - channel), to, done);
      done += some;
    }
  }
};

// A panel of columns of the results, and where it goes.
template <typename Result>
struct Target {
  Panel panel;
  size_t columns;
  Result* c;
  size_t row_bytes;
};

// Stores the results of the first `rows` rows; a tile may compute more.
template <bool kBoth, size_t kCount>
[[gnu::always_inline]] inline void store(const Int8Results& results,
                                         const RowOfSums (&sums)[kCount], size_t rows,
                                         const Target<int8_t>& target) {
  constexpr size_t kTogether = kBoth ? 2 : 4;
#pragma clang loop unroll(full)
  for (size_t i = 0; i < kCount; i += kTogether) {
    const auto row = [&](size_t more) { return sums[std::min(i + more, kCount - 1)]; };
    int8_t* const c = target.c + i * target.row_bytes;
    if (kBoth && i < rows) {
      results.store(row(0), row(1), i + 1 < rows, target.columns, target.panel, c,
                    target.row_bytes);
    } else if (i < rows) {
      results.store_left({row(0).left, row(1).left, row(2).left, row(3).left}, rows - i,
                         target.columns, target.panel, c, target.row_bytes);
    }
  }
}

template <bool kBoth, size_t kCount>
[[gnu::always_inline]] inline void store(const FloatResults& results,
                                         const RowOfSums (&sums)[kCount], size_t rows,
                                         const Target<float>& target) {
#pragma clang loop unroll(full)
  for (size_t i = 0; i < kCount; ++i) {
    if (i < rows) {
      results.store(sums[i], i, target.columns, target.panel,
                    advance(target.c, i * target.row_bytes));
    }
  }
}

// The products of a few rows are added up in several parts, so that none waits for another.
template <size_t kCount>
constexpr size_t kParts = kCount == 1   ? 4
                          : kCount == 2 ? 2
                                        : 1;

// Which part of all steps a slab is, and of how many rows.
struct Slab {
  size_t rows, first, steps;
  bool is_last;
};

// Adds the products of a slab of kCount rows to the sums of a panel, and stores these or, after the
// last slab, the results. kBoth: of more than 16 columns.
template <size_t kCount, bool kBoth, typename Results>
void run_panel(const Steps& steps, const Slab& slab, Sums& before, const Results& results,
               const Target<typename Results::Result>& target) {
  RowOfSums sums[kParts<kCount>][kCount];
#pragma clang loop unroll(full)
  for (size_t i = 0; i < kCount; ++i) {
#pragma clang loop unroll(full)
    for (size_t p = 0; p < kParts<kCount>; ++p) {
      sums[p][i] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    }
    if (slab.first == 0) continue;
    sums[0][i] = {_mm512_load_si512(before[i]), _mm512_load_si512(before[i] + kVector)};
  }
  const int8_t* weights = target.panel.weights + slab.first * kColumns;
  const auto add = [&](size_t k, RowOfSums(&to)[kCount]) __attribute__((always_inline)) {
    const __m512i left = _mm512_loadu_si512(weights), right = _mm512_loadu_si512(weights + kBytes);
    __builtin_prefetch(weights + kAhead);
    __builtin_prefetch(weights + kAhead + kBytes);
    weights += kGroup * kColumns;
#pragma clang loop unroll(full)
    for (size_t i = 0; i < kCount; ++i) {
      int32_t four;
      std::memcpy(&four, &steps.rows[i][k], sizeof(four));
      const __m512i factors = _mm512_set1_epi32(four);
      to[i].left = _mm512_dpbusd_epi32(to[i].left, factors, left);
      if (kBoth) to[i].right = _mm512_dpbusd_epi32(to[i].right, factors, right);
    }
  };
  size_t k = 0;
  for (; k + kParts<kCount> * kGroup <= slab.steps; k += kParts<kCount> * kGroup) {
#pragma clang loop unroll(full)
    for (size_t p = 0; p < kParts<kCount>; ++p) add(k + p * kGroup, sums[p]);
  }
  for (; k < slab.steps; k += kGroup) add(k, sums[0]);
#pragma clang loop unroll(full)
  for (size_t i = 0; i < kCount; ++i) {
#pragma clang loop unroll(full)
    for (size_t p = 1; p < kParts<kCount>; ++p) {
      sums[0][i].left = _mm512_add_epi32(sums[0][i].left, sums[p][i].left);
      sums[0][i].right = _mm512_add_epi32(sums[0][i].right, sums[p][i].right);
    }
  }
  if (slab.is_last) return store<kBoth>(results, sums[0], slab.rows, target);
#pragma clang loop unroll(full)
  for (size_t i = 0; i < kCount; ++i) {
    _mm512_store_si512(before[i], sums[0][i].left);
    _mm512_store_si512(before[i] + kVector, sums[0][i].right);
  }
}

template <typename Results>
using RunPanel = decltype(run_panel<1, true, Results>);

// The tile for so many rows, with rows to spare for most numbers: each tile is a kilobyte of code
// and more.
template <typename Results>
RunPanel<Results>* run_panel_of(size_t rows) {
  if (rows == 1) return run_panel<1, true, Results>;
  if (rows == 2) return run_panel<2, true, Results>;
  if (rows <= 4) return run_panel<4, true, Results>;
  if (rows <= 7) return run_panel<7, true, Results>;
  if (rows <= 10) return run_panel<10, true, Results>;
  return run_panel<kRows, true, Results>;
}

// The same for the first half of a panel. Floats take the tile for all of it.
RunPanel<Int8Results>* run_left_of(size_t rows, const Int8Results&) {
  if (rows <= 4) return run_panel<4, false, Int8Results>;
  if (rows <= 7) return run_panel<7, false, Int8Results>;
  return run_panel<kRows, false, Int8Results>;
}
RunPanel<FloatResults>* run_left_of(size_t rows, const FloatResults&) {
  return run_panel_of<FloatResults>(rows);
}

// Computes all columns of a few rows, kPanels panels at a time.
template <typename Rows, typename Results>
void multiply(size_t columns, const Rows& source, const void* weights,
              Place<typename Results::Result> place, const Results& results) {
  const size_t steps = source.steps();
  const Panels<kColumns, Results> panels(weights, steps);
  RunPanel<Results>* const run_both = run_panel_of<Results>(source.count);
  RunPanel<Results>* const run_left = run_left_of(source.count, results);
  Steps rows;
  alignas(kBytes) Sums sums[kPanels];
  constexpr size_t kShared = kPanels * kColumns;
  for (size_t begin = 0; begin < columns; begin += kShared) {
    const size_t end = std::min(columns, begin + kShared);
    for (size_t first = 0; first < steps; first += kSlab) {
      const Slab slab = {source.count, first, std::min(steps - first, kSlab),
                         first + kSlab >= steps};
      // The only slab of a row still lies there from the columns before.
      if (begin == 0 || steps > kSlab) source.gather(first, slab.steps, rows);
      for (size_t j = begin; j < end; j += kColumns) {
        const auto run = end - j > kVector ? run_both : run_left;
        run(rows, slab, sums[(j - begin) / kColumns], results,
            {panels.at(j), std::min(end - j, kColumns),
             advance(place.c, j / kColumns * place.panel_bytes), place.row_bytes});
      }
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
           Place<float>{c, cm_stride, cn_stride}, FloatResults(params, quantization, 0, kLarger));
}

}  // namespace

extern "C" {

void taper_qs8_gemm_14x32c4__avx512vnni(size_t mr, size_t nc, size_t kc, const int8_t* a,
                                        size_t a_stride, const void* w, int8_t* c, size_t cm_stride,
                                        size_t cn_stride,
                                        const xnn_qs8_qc8w_conv_minmax_params* params) {
  multiply(nc, Matrix{a, a_stride, mr, kc}, w, Place<int8_t>{c, cm_stride, cn_stride},
           Int8Results(params));
}

void taper_qs8_igemm_14x32c4__avx512vnni(size_t mr, size_t nc, size_t kc, size_t ks,
                                         const int8_t** a, const void* w, int8_t* c,
                                         size_t cm_stride, size_t cn_stride, size_t a_offset,
                                         const int8_t* zero,
                                         const xnn_qs8_qc8w_conv_minmax_params* params) {
  qs8_igemm<kRows>(mr, nc, kc, ks, a, w, c, cm_stride, cn_stride, a_offset, zero, params);
}

void taper_qs8_igemm_1x32c4__avx512vnni(size_t mr, size_t nc, size_t kc, size_t ks,
                                        const int8_t** a, const void* w, int8_t* c,
                                        size_t cm_stride, size_t cn_stride, size_t a_offset,
                                        const int8_t* zero,
                                        const xnn_qs8_qc8w_conv_minmax_params* params) {
  qs8_igemm<1>(mr, nc, kc, ks, a, w, c, cm_stride, cn_stride, a_offset, zero, params);
}

void taper_qd8_f32_gemm_14x32c4__avx512vnni(size_t mr, size_t nc, size_t kc, const int8_t* a,
                                            size_t a_stride, const void* w, float* c,
                                            size_t cm_stride, size_t cn_stride,
                                            const xnn_f32_minmax_params* params,
                                            const xnn_qd8_quantization_params* quantization) {
  multiply(nc, Matrix{a, a_stride, mr, kc}, w, Place<float>{c, cm_stride, cn_stride},
           FloatResults(params, quantization, 1, kLarger));
}

void taper_qd8_f32_igemm_14x32c4__avx512vnni(size_t mr, size_t nc, size_t kc, size_t ks,
                                             const int8_t** a, const void* w, float* c,
                                             size_t cm_stride, size_t cn_stride, size_t a_offset,
                                             const int8_t* zero, const int8_t* zero_data,
                                             const xnn_f32_minmax_params* params,
                                             const xnn_qd8_quantization_params* quantization) {
  qd8_igemm<kRows>(mr, nc, kc, ks, a, w, c, cm_stride, cn_stride, a_offset, zero, zero_data, params,
                   quantization);
}

void taper_qd8_f32_igemm_1x32c4__avx512vnni(size_t mr, size_t nc, size_t kc, size_t ks,
                                            const int8_t** a, const void* w, float* c,
                                            size_t cm_stride, size_t cn_stride, size_t a_offset,
                                            const int8_t* zero, const int8_t* zero_data,
                                            const xnn_f32_minmax_params* params,
                                            const xnn_qd8_quantization_params* quantization) {
  qd8_igemm<1>(mr, nc, kc, ks, a, w, c, cm_stride, cn_stride, a_offset, zero, zero_data, params,
               quantization);
}

}  // extern "C"
