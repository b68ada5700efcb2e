// Depthwise int8 convolutions with windows of up to nine taps, 64 channels at a time, with
// AVX-512's products of four bytes (VNNI). They are compiled into XNNPACK in place of its own
// microkernel and have the same interface.
//
// The instruction adds products of four adjacent bytes in each lane, so the pixels of a window have
// to be interleaved. This is done by columns of three. A window that moves by one or two pixels
// shares two or one of its columns with the previous one, so only three or six of its nine pixels
// are loaded and interleaved.
//
// Up to 32 channels that are left fill half a vector: the other half takes the second half of the
// line's pixels.
//
// The instruction needs one unsigned factor: 128 is added to pixels, and the biases compensate.

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/xnnpack/library/s8_tiles.h"
#include "xnnpack/microparams.h"

namespace {

constexpr size_t kChannels = 64;
constexpr size_t kPlaces = 3;   // Pixels of a column.
constexpr size_t kColumns = 3;  // Columns of a window.
constexpr size_t kQuarters = 4;

// Lane i of quarter j holds channels 16 * i + 4 * j and the three after it: this is the order that
// unpacking produces and packing expects.
struct Quarters {
  __m512i values[kQuarters];
};

// Interleaves the bytes of four pixels, so that those of a channel are adjacent.
[[gnu::always_inline]] inline Quarters interleave(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i low = _mm512_unpacklo_epi8(a, b), low_rest = _mm512_unpacklo_epi8(c, d);
  const __m512i high = _mm512_unpackhi_epi8(a, b), high_rest = _mm512_unpackhi_epi8(c, d);
  return {{_mm512_unpacklo_epi16(low, low_rest), _mm512_unpackhi_epi16(low, low_rest),
           _mm512_unpacklo_epi16(high, high_rest), _mm512_unpackhi_epi16(high, high_rest)}};
}

// Loads four bytes for each of 64 channels in this order.
Quarters arrange(const void* from) {
  Quarters result;
  for (size_t j = 0; j < kQuarters; ++j) {
    alignas(64) char quarter[64];
    for (size_t i = 0; i < 4; ++i) {
      std::memcpy(quarter + 16 * i, static_cast<const char*>(from) + 64 * i + 16 * j, 16);
    }
    result.values[j] = _mm512_load_si512(quarter);
  }
  return result;
}

// The packed weights of 64 channels. XNNPACK packs biases, the weights of each tap, scales.
struct Weights {
  Quarters columns[kColumns];
  Quarters biases;
  Quarters scales;

  // Has the first 32 channels twice.
  void repeat_half() {
    for (Quarters* each : {&columns[0], &columns[1], &columns[2], &biases, &scales}) {
      for (__m512i& value : each->values) value = _mm512_shuffle_i64x2(value, value, 0x44);
    }
  }

  explicit Weights(const char* packed) : biases(arrange(packed)) {
    const char* weights = packed + kChannels * sizeof(int32_t);
    const auto place = [&](size_t i) { return _mm512_loadu_si512(weights + i * kChannels); };
    scales = arrange(weights + kColumns * kPlaces * kChannels);
    for (size_t i = 0; i < kColumns; ++i) {
      columns[i] = interleave(place(kPlaces * i), place(kPlaces * i + 1), place(kPlaces * i + 2),
                              _mm512_setzero_si512());
      for (size_t j = 0; j < kQuarters; ++j) {
        const __m512i sum =
            _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), columns[i].values[j]);
        biases.values[j] = _mm512_sub_epi32(biases.values[j], _mm512_slli_epi32(sum, 7));
      }
    }
  }
};

// Where the pixels of a line are.
struct Pixels {
  size_t offset;
  const int8_t* outside;  // The pointer to which the offset is not added.
  size_t first_channel;

  [[gnu::always_inline]] const int8_t* operator[](const int8_t* pixel) const {
    return (pixel == outside ? pixel : pixel + offset) + first_channel;
  }
};

// Loads and stores up to 64 channels of a pixel, all of them if kAll, which is faster.
template <bool kAll>
struct Single {
  Pixels pixels;
  __mmask64 channels;

  [[gnu::always_inline]] __m512i load(const int8_t** place) const {
    const int8_t* from = pixels[*place];
    return kAll ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi8(channels, from);
  }
  [[gnu::always_inline]] void store(int8_t* output, __m512i values) const {
    if (kAll) {
      _mm512_storeu_si512(output, values);
    } else {
      _mm512_mask_storeu_epi8(output, channels, values);
    }
  }
};

// Loads and stores up to 32 channels of two pixels, all of them if kAll.
template <bool kAll>
struct Pair {
  Pixels pixels;
  __mmask32 channels;
  size_t places_between;
  size_t outputs_between;

  [[gnu::always_inline]] __m512i load(const int8_t** place) const {
    const __m256i first = load_one(pixels[*place]);
    const __m256i second = load_one(pixels[place[places_between]]);
    return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
  }
  [[gnu::always_inline]] void store(int8_t* output, __m512i values) const {
    store_one(output, _mm512_castsi512_si256(values));
    store_one(output + outputs_between, _mm512_extracti64x4_epi64(values, 1));
  }

 private:
  [[gnu::always_inline]] __m256i load_one(const int8_t* from) const {
    return kAll ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))
                : _mm256_maskz_loadu_epi8(channels, from);
  }
  [[gnu::always_inline]] void store_one(int8_t* output, __m256i values) const {
    if (kAll) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(output), values);
    } else {
      _mm256_mask_storeu_epi8(output, channels, values);
    }
  }
};

template <typename Access>
[[gnu::always_inline]] inline Quarters column(const Access& access, const int8_t** places) {
  __m512i values[kPlaces];
#pragma clang loop unroll(full)
  for (size_t i = 0; i < kPlaces; ++i) {
    values[i] = _mm512_xor_si512(access.load(places + i), _mm512_set1_epi8(-128));
  }
  return interleave(values[0], values[1], values[2], values[2]);
}

// How to convert sums to results.
struct Results {
  __m512 max;  // Minus the zero point.
  __m512i zero_point;
  __m512i min;

  explicit Results(const xnn_qs8_qc8w_conv_minmax_params* params)
      : max(_mm512_set1_ps(static_cast<float>(params->fp32_scalar.output_max -
                                              params->fp32_scalar.output_zero_point))),
        zero_point(_mm512_set1_epi16(params->fp32_scalar.output_zero_point)),
        min(_mm512_set1_epi8(static_cast<char>(params->fp32_scalar.output_min))) {}

  [[gnu::always_inline]] __m512i half(__m512i even, __m512i odd) const {
    return _mm512_adds_epi16(_mm512_packs_epi32(even, odd), zero_point);
  }

  [[gnu::always_inline]] __m512i pixel(const Quarters (&columns)[kColumns],
                                       const Weights& weights) const {
    __m512i rounded[kQuarters];
#pragma clang loop unroll(full)
    for (size_t j = 0; j < kQuarters; ++j) {
      __m512i sum = weights.biases.values[j];
#pragma clang loop unroll(full)
      for (size_t i = 0; i < kColumns; ++i) {
        sum = _mm512_dpbusd_epi32(sum, columns[i].values[j], weights.columns[i].values[j]);
      }
      const __m512 scale = _mm512_castsi512_ps(weights.scales.values[j]);
      const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale);
      rounded[j] = _mm512_cvtps_epi32(_mm512_min_ps(scaled, max));
    }
    const __m512i bytes =
        _mm512_packs_epi16(half(rounded[0], rounded[1]), half(rounded[2], rounded[3]));
    return _mm512_max_epi8(bytes, min);
  }
};

const int8_t** advanced(const int8_t** places, intptr_t bytes) {
  return reinterpret_cast<const int8_t**>(reinterpret_cast<uintptr_t>(places) + bytes);
}

// Computes a line of pixels; each window shares kShared columns with the previous one.
// `access` and `results` are copies, which stores to memory cannot change.
template <size_t kShared, typename Access>
void line(size_t count, const int8_t** places, intptr_t place_bytes, const Access access,
          const Weights& weights, const Results results, int8_t* output, size_t output_bytes) {
  Quarters columns[kColumns];
#pragma clang loop unroll(full)
  for (size_t i = 0; i < kShared; ++i)
    columns[kColumns - kShared + i] = column(access, places + i * kPlaces);
  for (; count > 0; --count) {
#pragma clang loop unroll(full)
    for (size_t i = 0; i < kColumns; ++i) {
      columns[i] =
          i < kShared ? columns[kColumns - kShared + i] : column(access, places + i * kPlaces);
    }
    access.store(output, results.pixel(columns, weights));
    places = advanced(places, place_bytes);
    output += output_bytes;
  }
}

template <typename Access>
void run_line(size_t count, const int8_t** places, intptr_t place_bytes, const Access& access,
              const Weights& weights, const Results& results, int8_t* output, size_t output_bytes) {
  constexpr intptr_t kColumnBytes = kPlaces * sizeof(void*);
  const auto run = place_bytes == kColumnBytes       ? line<2, Access>
                   : place_bytes == 2 * kColumnBytes ? line<1, Access>
                                                     : line<0, Access>;
  run(count, places, place_bytes, access, weights, results, output, output_bytes);
}

// Up to 32 channels of a line: two pixels at a time, and the last by itself if their number is odd.
template <bool kAll>
void run_pairs(size_t count, const int8_t** places, intptr_t place_bytes, const Pixels& pixels,
               __mmask32 channels, Weights weights, const Results& results, int8_t* output,
               size_t output_bytes) {
  const size_t half = count / 2;
  const size_t between = half * place_bytes / sizeof(void*);
  if (count % 2 != 0) {
    run_line(1, advanced(places, 2 * half * place_bytes), place_bytes,
             Single<false>{pixels, channels}, weights, results, output + 2 * half * output_bytes,
             output_bytes);
  }
  weights.repeat_half();
  run_line(half, places, place_bytes, Pair<kAll>{pixels, channels, between, half * output_bytes},
           weights, results, output, output_bytes);
}

}  // namespace

void taper_qs8_dwconv_9p64c__avx512vnni(size_t channels, size_t output_width, const int8_t** input,
                                        const void* weights, int8_t* output, intptr_t input_stride,
                                        size_t output_increment, size_t input_offset,
                                        const int8_t* zero,
                                        const union xnn_qs8_qc8w_conv_minmax_params* params) {
  constexpr size_t kPacked = kChannels * (sizeof(int32_t) + kColumns * kPlaces + sizeof(float));
  const size_t output_bytes = channels + output_increment;
  const Results results(params);
  const auto* packed = static_cast<const char*>(weights);
  for (size_t channel = 0; channel < channels; channel += kChannels, packed += kPacked) {
    const size_t some = std::min(channels - channel, kChannels);
    const __mmask64 wanted = (1ull << some % kChannels) - 1;  // If it is not all.
    const Pixels pixels = {input_offset, zero, channel};
    const Weights each(packed);
    const auto run = [&](const auto& access) {
      run_line(output_width, input, input_stride, access, each, results, output + channel,
               output_bytes);
    };
    if (some == kChannels) {
      run(Single<true>{pixels, 0});
    } else if (some > kChannels / 2 || output_width == 1) {
      run(Single<false>{pixels, wanted});
    } else {
      const auto pairs = some == kChannels / 2 ? run_pairs<true> : run_pairs<false>;
      pairs(output_width, input, input_stride, pixels, static_cast<__mmask32>(wanted), each,
            results, output + channel, output_bytes);
    }
  }
}
