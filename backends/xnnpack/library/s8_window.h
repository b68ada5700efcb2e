// Gathers the pixels of a convolution's windows as rows of a matrix, for AVX-512.
//
// XNNPACK passes a pointer for each tap of the window ("place") and each row of a tile. The
// channels that the pointers refer to are gathered tap after tap, so that a row is contiguous for
// any number of channels. If there are few channels, the pixels of a line of the window are usually
// adjacent in the image, and one load takes several of them.

#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backends/xnnpack/library/s8_results.h"

namespace {

constexpr size_t kChunk = 64;  // The steps (bytes) of one product of tiles.
constexpr size_t kSlab =
    576;  // The steps that are multiplied at a time: 64 channels of a 3 x 3 window.

constexpr size_t round_up_4(size_t count) { return (count + 3) / 4 * 4; }

// Some of the steps of all rows: chunks of rows with a constant stride, and `rest`, a last chunk in
// which steps that the chunks already contain are zeros.
struct Steps {
  const int8_t* rows;
  size_t row_bytes;
  size_t chunks;
  size_t chunk_steps;  // kChunk, or the number of steps if it is smaller.
  const int8_t* rest;  // kChunk bytes per row, or null.
  size_t rest_step;    // The first step of the rest.
};

// Gathers rows from groups of kHeight pointers, of which `count` are used. The channels of a pixel
// are padded with zeros to a multiple of four steps.
template <size_t kHeight>
class Window {
 public:
  static constexpr size_t kPanels = 8;  // The panels that share gathered rows.

  Window(const Pixels& pixels, size_t count, size_t channels)
      : pixels_(pixels), count_(count), channels_(channels), place_steps_(round_up_4(channels)) {
    size_t to = 0;
    for (size_t from = 0; to + place_steps_ <= kChunk; from += channels) {
      for (size_t k = 0; k < place_steps_; ++k) order_[to++] = static_cast<int8_t>(from + k);
    }
  }

  // Gathers steps from `first` on, at most kSlab, and discards the previous ones.
  Steps some(size_t first, size_t steps) {
    size_t place = first / place_steps_;
    size_t channel = first % place_steps_;
    for (size_t done = 0; done < steps;) {
      const Run run = channel == 0 ? side_by_side(place, steps - done) : Run{1, 0};
      if (run.places > 1) {
        gather(place, run, rows_ + done);
        done += run.places * place_steps_;
      } else {
        const size_t some = std::min(place_steps_ - channel, steps - done);
        gather(place, channel, std::min(some, channels_ - channel), rows_ + done);
        done += some;
      }
      channel = 0;
      place += run.places;
    }
    if (first == 0 && steps < kChunk) return {rows_, kRowBytes, 1, steps, nullptr, 0};
    const size_t rest = steps % kChunk;
    if (rest != 0) cut_rest(steps, rest);
    return {rows_,
            kRowBytes,
            steps / kChunk,
            kChunk,
            rest != 0 ? rest_ : nullptr,
            first + steps - kChunk};
  }

 private:
  static constexpr size_t kRowBytes = kSlab + kChunk;  // A store may pass the end of a row.

  // Taps whose pixels are adjacent in memory, in the rows whose bits are set.
  struct Run {
    size_t places;
    uint32_t rows;
  };

  // Finds as many such taps as fill a chunk, as long as they are adjacent in half of the rows.
  Run side_by_side(size_t place, size_t steps) const {
    Run run = {1, static_cast<uint32_t>(ones(count_))};
    if (kHeight < 8) return run;
    const size_t most = std::min(kChunk, steps) / place_steps_;
    while (run.places < most) {
      const uint32_t rows = run.rows & beside_last(place + run.places);
      if (2 * static_cast<size_t>(__builtin_popcount(rows)) < count_) break;
      run = {run.places + 1, rows};
    }
    return run;
  }

  // The rows whose pixel at this tap is adjacent to that of the previous tap.
  uint32_t beside_last(size_t place) const {
    const __m512i distance = _mm512_set1_epi64(static_cast<int64_t>(channels_));
    const __m512i outside = _mm512_set1_epi64(reinterpret_cast<int64_t>(pixels_.outside));
    const int8_t* const* here = pixels_.pointers + place * kHeight;
    uint32_t rows = 0;
    for (size_t i = 0; i < kHeight; i += 8) {
      const __m512i left = _mm512_loadu_si512(here - kHeight + i);
      const __m512i right = _mm512_loadu_si512(here + i);
      __mmask8 beside = _mm512_cmpneq_epi64_mask(left, outside);
      beside = _mm512_mask_cmpneq_epi64_mask(beside, right, outside);
      beside = _mm512_mask_cmpeq_epi64_mask(beside, _mm512_sub_epi64(right, left), distance);
      rows |= static_cast<uint32_t>(beside) << i;
    }
    return rows;
  }

  // Gathers the pixels of several taps.
  void gather(size_t place, const Run& run, int8_t* to) {
    const __m512i order = _mm512_load_si512(order_);
    const __mmask64 wanted = ones(run.places * channels_);
    const Pixels pixels = pixels_;  // A copy, whose members no store can change.
    const size_t count = count_;
    for (size_t i = 0; i < count; ++i, to += kRowBytes) {
      if (run.rows >> i & 1) {
        const int8_t* from = pixels.at(place * kHeight + i);
        const __m512i places = _mm512_maskz_loadu_epi8(wanted, from);
        _mm512_storeu_si512(to, _mm512_permutexvar_epi8(order, places));
        continue;
      }
      for (size_t j = 0; j < run.places; ++j) {
        const int8_t* from = pixels.at((place + j) * kHeight + i);
        const __m512i channels = _mm512_maskz_loadu_epi8(ones(channels_), from);
        _mm512_storeu_si512(to + j * place_steps_, channels);
      }
    }
  }

  // Gathers `bytes` channels of one tap.
  void gather(size_t place, size_t channel, size_t bytes, int8_t* to) {
    const int8_t* from[kHeight];
    const Pixels pixels = pixels_;
    const size_t count = count_;
    for (size_t i = 0; i < count; ++i) from[i] = pixels.at(place * kHeight + i) + channel;
    const size_t whole = bytes / kChunk * kChunk;
    const __mmask64 last = ones(bytes - whole);
    for (size_t i = 0; i < count; ++i, to += kRowBytes) {
      for (size_t k = 0; k < whole; k += kChunk) {
        _mm512_storeu_si512(to + k, _mm512_loadu_si512(from[i] + k));
      }
      if (last != 0) {
        _mm512_storeu_si512(to + whole, _mm512_maskz_loadu_epi8(last, from[i] + whole));
      }
    }
  }

  // Copies the last chunk of each row, with zeros for all but the last `rest` steps.
  void cut_rest(size_t steps, size_t rest) {
    for (size_t i = 0; i < count_; ++i) {
      const int8_t* chunk = rows_ + i * kRowBytes + steps - kChunk;
      const __m512i last = _mm512_maskz_loadu_epi8(~ones(kChunk - rest), chunk);
      _mm512_store_si512(rest_ + i * kChunk, last);
    }
  }

  Pixels pixels_;
  size_t count_;
  size_t channels_;
  size_t place_steps_;
  alignas(64) int8_t order_[kChunk];  // The permutation from adjacent pixels to steps.
  alignas(64) int8_t rest_[kHeight * kChunk];
  alignas(64) int8_t rows_[kHeight * kRowBytes];
};

}  // namespace
