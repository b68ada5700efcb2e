// Max pooling, several vectors of channels at a time. It is compiled into XNNPACK in place of its
// own microkernel, which uses vectors of four, and has the same interface. If an element is NaN, so
// is the maximum.
//
// A file that includes this must first define `Vector` and its operations.

#pragma once

#include <cstddef>

#include "backends/xnnpack/library/tall_tile.h"

namespace {

// The window of an output pixel. `pixels` points to its pointers, to which `offset` is added.
struct Window {
  const float** pixels;
  size_t count;
  size_t offset;
  const xnn_f32_minmax_params* limits;
};

// Computes kCount vectors of channels from `channel` on; a single vector may have only `some`
// lanes.
template <int kCount>
[[gnu::always_inline]] inline void pool(const Window& window, size_t channel, size_t some,
                                        float* output) {
  const auto read = [&](size_t p, int j) {
    const float* pixel = advance(window.pixels[p], window.offset) + channel + j * kLanes;
    return kCount == 1 ? load_some(pixel, some) : load(pixel);
  };
  Vector most[kCount];
#pragma clang loop unroll(full)
  for (int j = 0; j < kCount; ++j) most[j] = read(0, j);
  for (size_t p = 1; p < window.count; ++p) {
#pragma clang loop unroll(full)
    for (int j = 0; j < kCount; ++j) most[j] = maximum(most[j], read(p, j));
  }
  const Vector min = splat(&window.limits->scalar.min);
  const Vector max = splat(&window.limits->scalar.max);
#pragma clang loop unroll(full)
  for (int j = 0; j < kCount; ++j) {
    store_some(output + channel + j * kLanes, clamp(most[j], min, max),
               kCount == 1 ? some : kLanes);
  }
}

void max_pool(size_t output_pixels, size_t channels, Window window, float* output,
              size_t input_increment, size_t output_increment) {
  constexpr int kAtOnce = 4;
  for (; output_pixels > 0; --output_pixels) {
    size_t c = 0;
    for (; c + kAtOnce * kLanes <= channels; c += kAtOnce * kLanes) {
      pool<kAtOnce>(window, c, kLanes, output);
    }
    for (; c < channels; c += kLanes) {
      pool<1>(window, c, channels - c < kLanes ? channels - c : kLanes, output);
    }
    window.pixels = advance(window.pixels + window.count, input_increment);
    output = advance(output + channels, output_increment);
  }
}

}  // namespace

#define TAPER_F32_MAX_POOL(name)                                                                 \
  void name(size_t output_pixels, size_t kernel_elements, size_t channels, const float** input,  \
            size_t input_offset, float* output, size_t input_increment, size_t output_increment, \
            const union xnn_f32_minmax_params* params) {                                         \
    max_pool(output_pixels, channels, {input, kernel_elements, input_offset, params}, output,    \
             input_increment, output_increment);                                                 \
  }
