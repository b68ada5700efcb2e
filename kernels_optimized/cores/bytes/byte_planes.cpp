// Panels of a row, and tiles of pixels times vectors of channels; see byte_planes.h. Intrinsics,
// since Highway's version here has no dot products of bytes.

#include "kernels_optimized/cores/bytes/byte_planes.h"

#include <algorithm>
#include <cstring>

#include "kernels_optimized/engine/x86_features.h"
#include "kernels_optimized/engine/x86_intrinsics.h"

#if defined(__x86_64__)
#define TAPER_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define TAPER_VNNI_INLINE TAPER_VNNI inline __attribute__((always_inline))
#endif

namespace taper::optimized {
namespace {

constexpr int64_t kMostChannels = 4;
constexpr int64_t kLanes = 16;     // The channels of a vector.
constexpr int64_t kTaps = 4;       // The bytes that an instruction adds up.
constexpr int64_t kMostTile = 12;  // The most pixels of one.
constexpr uint8_t kFlip = 0x80;    // Makes a byte with a sign one without, 128 larger.

int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// The groups of four taps of a row of a window, and the rows of a window in all planes.
int64_t groups_of(const BytePlanesShape& s) { return (s.window_width + kTaps - 1) / kTaps; }
int64_t lines_of(const BytePlanesShape& s) { return s.channels * s.window_height; }

// The bytes of a line of a panel. Tiles read as if the last one were whole.
int64_t line_size(const BytePlanesShape& s) {
  return (round_up(s.out_width, kMostTile) - 1) * s.step_across + groups_of(s) * kTaps;
}

// Copies a line of a plane from pixel -padding_left on, without signs; null: a line around the
// image.
void copy_line(const BytePlanesShape& s, const int8_t* from, uint8_t* to) {
  const auto around = static_cast<uint8_t>(static_cast<uint8_t>(s.zero_point) ^ kFlip);
  const int64_t size = line_size(s);
  const int64_t first = std::min(s.padding_left, size);
  const int64_t count = from == nullptr ? 0 : std::min(s.width, size - first);
  std::fill(to, to + first, around);
  to += first;
  constexpr int64_t kWord = sizeof(uint64_t);  // The compiler does not take several bytes at once.
  int64_t i = 0;
  for (; i + kWord <= count; i += kWord) {
    uint64_t word;
    std::memcpy(&word, from + i, sizeof(word));
    word ^= kFlip * 0x0101010101010101U;
    std::memcpy(to + i, &word, sizeof(word));
  }
  for (; i < count; ++i) to[i] = static_cast<uint8_t>(static_cast<uint8_t>(from[i]) ^ kFlip);
  std::fill(to + count, to + size - first, around);
}

void fill_panel(const BytePlanesShape& s, const int8_t* image, int64_t row, uint8_t* panel) {
  const int64_t number = row / s.out_height;
  const int64_t top = row % s.out_height * s.step_down - s.padding_top;
  for (int64_t c = 0; c < s.channels; ++c) {
    const int8_t* plane = image + (number * s.channels + c) * s.height * s.width;
    for (int64_t i = 0; i < s.window_height; ++i, panel += line_size(s)) {
      const int64_t y = top + i * s.dilation_down;
      copy_line(s, y >= 0 && y < s.height ? plane + y * s.width : nullptr, panel);
    }
  }
}

// The vectors of the next tile if `left` are left.
int64_t next_vectors(int64_t left) { return left >= 4 ? 4 : left >= 2 ? 2 : 1; }

#if defined(__x86_64__)

// Where a tile reads and writes.
struct Tile {
  const uint8_t* panel;
  const int8_t* filter;
  const int32_t* biases;
  const float* scales;
  int8_t* out;
  int64_t pixels, channels;  // How many are stored.
};

TAPER_VNNI_INLINE __m512i four_bytes(const uint8_t* from) {
  int32_t bytes;
  std::memcpy(&bytes, from, sizeof(bytes));
  return _mm512_set1_epi32(bytes);
}

// The first `count` bits of a mask.
TAPER_VNNI_INLINE __mmask64 first_bytes(int64_t count) {
  return count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
}

// Stores kWide sixteens of bytes, those of the pixel with this number among `bytes`.
template <int kWide, int kPixel>
TAPER_VNNI_INLINE void store_pixel(int8_t* to, __mmask64 wanted, __m512i bytes) {
  if constexpr (kWide == 4) {
    _mm512_mask_storeu_epi8(to, wanted, bytes);
  } else if constexpr (kWide == 2) {
    const __m256i part = _mm512_extracti64x4_epi64(bytes, kPixel);
    _mm256_mask_storeu_epi8(to, static_cast<__mmask32>(wanted), part);
  } else {
    const __m128i part = _mm512_extracti32x4_epi32(bytes, kPixel);
    _mm_mask_storeu_epi8(to, static_cast<__mmask16>(wanted), part);
  }
}

// Four vectors of results become bytes together: those of one pixel, or of two or four.
template <int kPixels, int kWide>
TAPER_VNNI_INLINE void store_tile(const BytePlanesShape& s, const BytePlanesOutput& last,
                                  const Tile& tile, const __m512i (&sums)[kPixels][kWide]) {
  constexpr int kTogether = 4 / kWide;
  const __m512 most = _mm512_set1_ps(static_cast<float>(last.max - last.zero_point));
  const __m512i zero_point = _mm512_set1_epi16(static_cast<int16_t>(last.zero_point));
  const __m512i least = _mm512_set1_epi8(static_cast<int8_t>(last.min));
  // Packing gives four channels of each vector in turn.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __mmask64 wanted = first_bytes(std::min(tile.channels, kWide * kLanes));
#pragma GCC unroll 12
  for (int p = 0; p < kPixels; p += kTogether) {
    if (p >= tile.pixels) break;
    __m512i results[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const int pixel = std::min(p + i / kWide, kPixels - 1), v = i % kWide;
      const __m512 scale = _mm512_loadu_ps(tile.scales + v * kLanes);
      const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[pixel][v]), scale);
      results[i] = _mm512_cvtps_epi32(_mm512_min_ps(product, most));
    }
    const __m512i first = _mm512_adds_epi16(_mm512_packs_epi32(results[0], results[1]), zero_point);
    const __m512i second =
        _mm512_adds_epi16(_mm512_packs_epi32(results[2], results[3]), zero_point);
    const __m512i packed = _mm512_max_epi8(_mm512_packs_epi16(first, second), least);
    const __m512i bytes = _mm512_permutexvar_epi32(order, packed);
    int8_t* const to = tile.out + p * s.out_channels;
    const int64_t left = tile.pixels - p;
    store_pixel<kWide, 0>(to, wanted, bytes);
    if (kTogether > 1 && left > 1) store_pixel<kWide, 1>(to + s.out_channels, wanted, bytes);
    if constexpr (kTogether == 4) {
      if (left > 2) store_pixel<kWide, 2>(to + 2 * s.out_channels, wanted, bytes);
      if (left > 3) store_pixel<kWide, 3>(to + 3 * s.out_channels, wanted, bytes);
    }
  }
}

// Computes kPixels pixels of kWide vectors of channels.
template <int kPixels, int kWide>
TAPER_VNNI void run_tile(const BytePlanesShape& s, const BytePlanesOutput& last, const Tile& tile) {
  __m512i sums[kPixels][kWide];
#pragma GCC unroll 4
  for (int v = 0; v < kWide; ++v) {
    const __m512i bias = _mm512_loadu_si512(tile.biases + v * kLanes);
#pragma GCC unroll 12
    for (int p = 0; p < kPixels; ++p) sums[p][v] = bias;
  }
  const int8_t* filter = tile.filter;
  const uint8_t* line = tile.panel;
  const int64_t groups = groups_of(s), lines = lines_of(s), size = line_size(s);
  for (int64_t i = 0; i < lines; ++i, line += size) {
    for (int64_t g = 0; g < groups; ++g, filter += kWide * kLanes * kTaps) {
      __m512i factors[kWide];
#pragma GCC unroll 4
      for (int v = 0; v < kWide; ++v) factors[v] = _mm512_loadu_si512(filter + v * kLanes * kTaps);
      const uint8_t* pixel = line + g * kTaps;
#pragma GCC unroll 12
      for (int p = 0; p < kPixels; ++p, pixel += s.step_across) {
        const __m512i bytes = four_bytes(pixel);
#pragma GCC unroll 4
        for (int v = 0; v < kWide; ++v) {
          sums[p][v] = _mm512_dpbusd_epi32(sums[p][v], bytes, factors[v]);
        }
      }
    }
  }
  store_tile<kPixels, kWide>(s, last, tile, sums);
}

template <int kPixels, int kWide>
void run_tiles(const BytePlanesShape& s, const BytePlanesOutput& last, Tile tile) {
  for (int64_t x = 0; x < s.out_width; x += kPixels) {
    tile.pixels = std::min<int64_t>(kPixels, s.out_width - x);
    run_tile<kPixels, kWide>(s, last, tile);
    tile.panel += kPixels * s.step_across;
    tile.out += kPixels * s.out_channels;
  }
}

#endif

}  // namespace

bool has_byte_planes(const BytePlanesShape& s) {
  return has_vnni() && !has_byte_tiles() && s.channels <= kMostChannels && s.dilation_across == 1 &&
         s.window_width > 1;
}

int64_t byte_planes_padded(const BytePlanesShape& s) { return round_up(s.out_channels, kLanes); }

int64_t byte_planes_filter_size(const BytePlanesShape& s) {
  return byte_planes_padded(s) * lines_of(s) * groups_of(s) * kTaps;
}

// The order is that in which the tiles read: channels of a tile, lines, groups, vectors, channels
// of a vector, taps.
void pack_byte_planes(const BytePlanesShape& s, const int8_t* filter, const int32_t* bias,
                      int8_t* packed, int32_t* biases) {
  std::fill_n(packed, byte_planes_filter_size(s), int8_t{0});
  std::fill_n(biases, byte_planes_padded(s), 0);
  const int64_t vectors = byte_planes_padded(s) / kLanes, pieces = lines_of(s) * groups_of(s);
  const int32_t shift = int32_t{kFlip} + s.zero_point;
  for (int64_t o = 0; o < s.out_channels; ++o) {
    int64_t first = 0, wide = next_vectors(vectors);  // The vectors of the tile that has `o`.
    while (first + wide <= o / kLanes) first += wide, wide = next_vectors(vectors - first);
    uint32_t sum = 0;
    for (int64_t line = 0; line < lines_of(s); ++line) {
      const int64_t c = line / s.window_height, y = line % s.window_height;
      for (int64_t x = 0; x < s.window_width; ++x) {
        const int8_t factor =
            filter[((o * s.window_height + y) * s.window_width + x) * s.channels + c];
        const int64_t piece = line * groups_of(s) + x / kTaps;
        const int64_t vector = first * pieces + piece * wide + o / kLanes - first;
        packed[(vector * kLanes + o % kLanes) * kTaps + x % kTaps] = factor;
        sum += static_cast<uint32_t>(factor);
      }
    }
    const uint32_t given = bias != nullptr ? static_cast<uint32_t>(bias[o]) : 0;
    biases[o] = static_cast<int32_t>(given - static_cast<uint32_t>(shift) * sum);
  }
}

int64_t byte_planes_panel_size(const BytePlanesShape& s) { return lines_of(s) * line_size(s); }

void byte_planes(const BytePlanesShape& s, const BytePlanesData& data, int64_t row,
                 uint8_t* panel) {
  fill_panel(s, data.image, row, panel);
#if defined(__x86_64__)
  const int64_t vectors = byte_planes_padded(s) / kLanes, pieces = lines_of(s) * groups_of(s);
  int8_t* const out = data.out + row * s.out_width * s.out_channels;
  for (int64_t v = 0, wide; v < vectors; v += wide) {
    wide = next_vectors(vectors - v);
    const int64_t first = v * kLanes;
    const Tile tile = {panel,
                       data.filter + first * pieces * kTaps,
                       data.biases + first,
                       data.last.scales + first,
                       out + first,
                       0,
                       s.out_channels - first};
    wide == 4   ? run_tiles<6, 4>(s, data.last, tile)
    : wide == 2 ? run_tiles<12, 2>(s, data.last, tile)
                : run_tiles<12, 1>(s, data.last, tile);
  }
#endif
}

}  // namespace taper::optimized
