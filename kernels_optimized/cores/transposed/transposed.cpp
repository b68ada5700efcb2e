// Transposed convolution by rows of results; see transposed.h.

#include "kernels_optimized/cores/transposed/transposed.h"

#include <algorithm>

#include "kernels_optimized/cores/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/transposed/transposed.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// Along one dimension: the taps of a window, `first`, `first` + step, ..., by which input
// coordinates `from`, `from` - 1, ... reach one result.
struct Reach {
  int64_t first = 0, from = 0, count = 0;
};

// `phase` is the first of these taps, and `taps` their number, if the input had no end.
Reach reach_of(int64_t phase, int64_t taps, int64_t from, int64_t step, int64_t size) {
  const int64_t beyond = std::max(from - size + 1, int64_t{0});
  from -= beyond;
  return {phase + beyond * step, from, std::min(taps - beyond, from + 1)};
}

// How many taps there are from `phase` on.
int64_t taps_from(int64_t phase, int64_t step, int64_t window) {
  return phase < window ? (window - phase - 1) / step + 1 : 0;
}

// The sums of one result of all channels.
HWY_INLINE void sum_pixel(const TransposedShape& s, const TransposedData& d, const float* image,
                          const Reach& down, const Reach& across, float* out) {
  const Vec low = constant(d.bounds.low), high = constant(d.bounds.high);
  const int64_t row_size = s.width * s.channels;
  const float* in = image + down.from * row_size + across.from * s.channels;
  const float* filter = d.filter + (down.first * s.window_width + across.first) * s.channels;
  for (int64_t c = 0; c < s.channels; c += kLanes) {
    const int64_t count = s.channels - c;
    Vec sum = d.bias != nullptr ? load_count(d.bias + c, count) : constant(0);
    for (int64_t i = 0; i < down.count; ++i) {
      const float* x = in + c - i * row_size;
      const float* w = filter + c + i * s.step_down * s.window_width * s.channels;
      for (int64_t k = 0; k < across.count; ++k) {
        sum = hn::MulAdd(load_count(x - k * s.channels, count),
                         load_count(w + k * s.step_across * s.channels, count), sum);
      }
    }
    store_count(at_most(at_least(sum, low), high), out + c, count);
  }
}

// The same for `columns` results of a row, all reached by taps of kDown rows and kAcross columns:
// the factors of a vector of channels stay in registers. `in` is the input of the first tap.
template <int kDown, int kAcross>
HWY_INLINE void sum_line(const TransposedShape& s, const TransposedData& d, const float* in,
                         const float* filter, int64_t columns, float* out) {
  const Vec low = constant(d.bounds.low), high = constant(d.bounds.high);
  const int64_t channels = s.channels, row_size = s.width * channels;
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int64_t count = channels - c;
    const Vec bias = d.bias != nullptr ? load_count(d.bias + c, count) : constant(0);
    Vec factors[kDown * kAcross];
    TAPER_UNROLL
    for (int t = 0; t < kDown * kAcross; ++t) {
      const int64_t tap = t / kAcross * s.step_down * s.window_width + t % kAcross * s.step_across;
      factors[t] = load_count(filter + tap * channels + c, count);
    }
    const float* x = in + c;
    float* to = out + c;
    for (int64_t i = 0; i < columns; ++i, x += channels, to += s.step_across * channels) {
      Vec sum = bias;
      TAPER_UNROLL
      for (int t = 0; t < kDown * kAcross; ++t) {
        const Vec pixel = load_count(x - t / kAcross * row_size - t % kAcross * channels, count);
        sum = hn::MulAdd(pixel, factors[t], sum);
      }
      store_count(at_most(at_least(sum, low), high), to, count);
    }
  }
}

// Calls sum_line() if it has a form for so many taps.
HWY_INLINE bool sum_line_of(const TransposedShape& s, const TransposedData& d, int64_t down,
                            int64_t across, const float* in, const float* filter, int64_t columns,
                            float* out) {
  if (down == 1 && across == 1) return sum_line<1, 1>(s, d, in, filter, columns, out), true;
  if (down == 1 && across == 2) return sum_line<1, 2>(s, d, in, filter, columns, out), true;
  if (down == 2 && across == 1) return sum_line<2, 1>(s, d, in, filter, columns, out), true;
  if (down == 2 && across == 2) return sum_line<2, 2>(s, d, in, filter, columns, out), true;
  return false;
}

// Computes the results of a row that taps `tap`, tap + step, ... of the columns reach: those from
// column `start` on, a step apart.
HWY_INLINE void sum_columns(const TransposedShape& s, const TransposedData& d, const float* image,
                            const Reach& down, int64_t start, float* out) {
  const int64_t left = start + s.padding_left, step = s.step_across, tap = left % step;
  const int64_t taps = taps_from(tap, step, s.window_width);
  const int64_t first = left / step, end = first + (s.out_width - start - 1) / step + 1;
  const auto sum_until = [&](int64_t from, int64_t last) HWY_ATTR {
    for (; from < last; ++from) {
      sum_pixel(s, d, image, down, reach_of(tap, taps, from, step, s.width),
                out + (start + (from - first) * step) * s.channels);
    }
  };
  // All taps reach the results whose first one has an input, and the last one, too.
  const int64_t inner = std::clamp(taps - 1, first, end);
  const int64_t outer = std::clamp(s.width, inner, end);
  sum_until(first, inner);
  const float* in = image + (down.from * s.width + inner) * s.channels;
  const float* filter = d.filter + (down.first * s.window_width + tap) * s.channels;
  if (!sum_line_of(s, d, down.count, taps, in, filter, outer - inner,
                   out + (start + (inner - first) * step) * s.channels)) {
    sum_until(inner, outer);
  }
  sum_until(outer, end);
}

// Computes rows of a depthwise convolution.
HWY_INLINE void sum_rows(const TransposedShape& s, const TransposedData& d, const float* image,
                         int64_t first, int64_t rows, float* out) {
  for (int64_t row = first; row < first + rows; ++row, out += s.out_width * s.channels) {
    const int64_t place = row + s.padding_top, phase = place % s.step_down;
    const Reach down = reach_of(phase, taps_from(phase, s.step_down, s.window_height),
                                place / s.step_down, s.step_down, s.height);
    for (int64_t start = 0; start < std::min(s.step_across, s.out_width); ++start) {
      sum_columns(s, d, image, down, start, out);
    }
  }
}

// Adds `count` floats to those at `to`.
HWY_INLINE void add_floats(const float* from, int64_t count, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(hn::Add(hn::LoadU(kTag, to + i), hn::LoadU(kTag, from + i)), kTag, to + i);
  }
  if (i == count) return;
  store_some(hn::Add(load_some(to + i, count - i), load_some(from + i, count - i)), to + i,
             count - i);
}

// Input pixels of one row.
struct Run {
  int64_t first, count;
};

// Adds the products of one pixel with one row of its window, whose first tap reaches column `left`.
HWY_INLINE void add_taps(const TransposedShape& s, int64_t left, const float* products,
                         float* out) {
  const int64_t outs = s.out_channels;
  if (s.dilation_across == 1) {  // Side by side in the results, too.
    const int64_t begin = std::max(-left, int64_t{0});
    const int64_t end = std::min(s.window_width, s.out_width - left);
    if (begin >= end) return;
    add_floats(products + begin * outs, (end - begin) * outs, out + (left + begin) * outs);
    return;
  }
  for (int64_t k = 0; k < s.window_width; ++k) {
    const int64_t place = left + k * s.dilation_across;
    if (place < 0 || place >= s.out_width) continue;
    add_floats(products + k * outs, outs, out + place * outs);
  }
}

// Adds the products of a run with one row of the windows to a row of results. Pixels that reach the
// same vectors of results do not follow each other: a load of what was just stored in part waits
// until it is in the cache.
HWY_INLINE void add_run(const TransposedShape& s, const Run& run, const float* products,
                        float* out) {
  const int64_t reach = (s.window_width - 1) * s.dilation_across + 1;
  const int64_t floats = reach * s.out_channels + kLanes - 1;
  const int64_t apart = (floats - 1) / (s.step_across * s.out_channels) + 1;
  for (int64_t first = 0; first < std::min(apart, run.count); ++first) {
    for (int64_t i = first; i < run.count; i += apart) {
      const int64_t left = (run.first + i) * s.step_across - s.padding_left;
      add_taps(s, left, products + i * s.columns(), out);
    }
  }
}

HWY_INLINE void clamp_floats(const Bounds& bounds, int64_t count, float* at) {
  const Vec low = constant(bounds.low), high = constant(bounds.high);
  for (int64_t i = 0; i < count; i += kLanes) {
    store_count(at_most(at_least(load_count(at + i, count - i), low), high), at + i, count - i);
  }
}

// Writes the biases, or zeros, to all pixels of `count` floats, at least one.
HWY_INLINE void begin_sums(const TransposedShape& s, const float* bias, int64_t count, float* out) {
  if (bias == nullptr || s.out_channels == 1) {
    std::fill_n(out, count, bias != nullptr ? *bias : 0);
    return;
  }
  std::copy_n(bias, s.out_channels, out);
  for (int64_t done = s.out_channels; done < count;) {  // Twice as many each time.
    const int64_t next = std::min(done, count - done);
    std::copy_n(out, next, out + done);
    done += next;
  }
}

// Adds the products of `count` pixels from `pixel` on to the rows of results [first, first + rows),
// which begin at `out`.
HWY_INLINE void add_products(const TransposedShape& s, int64_t pixel, int64_t count,
                             const float* products, int64_t first, int64_t rows, float* out) {
  const int64_t end = pixel + count;
  while (pixel < end) {
    const int64_t down = pixel / s.width, across = pixel % s.width;
    const Run run = {across, std::min(end - pixel, s.width - across)};
    for (int64_t k = 0; k < s.window_height; ++k) {
      const int64_t row = down * s.step_down - s.padding_top + k * s.dilation_down - first;
      if (row < 0 || row >= rows) continue;
      add_run(s, run, products + k * s.window_width * s.out_channels,
              out + row * s.out_width * s.out_channels);
    }
    pixel += run.count;
    products += run.count * s.columns();
  }
}

// Computes rows by products.
HWY_INLINE void multiply_rows(const TransposedShape& s, const TransposedData& d, const float* image,
                              int64_t first, int64_t rows, float* scratch, float* out) {
  const int64_t floats = rows * s.out_width * s.out_channels;
  if (floats == 0) return;
  begin_sums(s, d.bias, floats, out);
  // The rows of the input that reach these results.
  const int64_t above = first + s.padding_top - (s.window_height - 1) * s.dilation_down;
  const int64_t begin = (std::max(above, int64_t{0}) + s.step_down - 1) / s.step_down;
  const int64_t end = std::min((first + rows - 1 + s.padding_top) / s.step_down + 1, s.height);
  Gemm g;
  g.columns = g.out_stride = s.columns();
  g.depth = s.channels;
  g.panels = {d.filter, g.depth, g.columns};
  g.out = scratch;
  const int64_t most = block_pixels(s);
  for (int64_t at = begin * s.width; at < end * s.width; at += g.rows) {
    g.rows = std::min(most, end * s.width - at);
    g.left = {image + at * s.channels, s.channels, 1};
    gemm(g, {});
    add_products(s, at, g.rows, scratch, first, rows, out);
  }
  if (d.bounds.clamps()) clamp_floats(d.bounds, floats, out);
}

}  // namespace

void transposed_form(const TransposedShape& s, const TransposedData& d, int64_t image,
                     int64_t first, int64_t rows, float* scratch) {
  const float* in = d.image + image * s.height * s.width * s.channels;
  float* out = d.out + (image * s.out_height + first) * s.out_width * s.out_channels;
  if (s.is_depthwise) {
    sum_rows(s, d, in, first, rows, out);
  } else {
    multiply_rows(s, d, in, first, rows, scratch, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {

int64_t transposed_filter_floats(const TransposedShape& s) {
  return s.is_depthwise ? s.taps() * s.channels : panel_floats(s.channels, s.columns());
}

int64_t transposed_packing_floats(const TransposedShape& s) {
  return s.is_depthwise ? 0 : s.columns() * s.channels;
}

void pack_transposed(const TransposedShape& s, const float* filter, float* scratch, float* to) {
  const int64_t taps = s.taps(), outs = s.out_channels, depth = s.is_depthwise ? 1 : s.channels;
  // With the output channels of a tap side by side.
  float* by_tap = s.is_depthwise ? to : scratch;
  for (int64_t o = 0; o < outs; ++o) {
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t tap = s.is_turned ? taps - 1 - t : t;
      std::copy_n(filter + (o * taps + tap) * depth, depth, by_tap + (t * outs + o) * depth);
    }
  }
  if (!s.is_depthwise) pack_panels({scratch, 1, depth}, depth, s.columns(), to);
}

int64_t transposed_scratch(const TransposedShape& s) {
  return s.is_depthwise ? 0 : block_pixels(s) * s.columns();
}

void transposed(const TransposedShape& shape, const TransposedData& data, int64_t image,
                int64_t first, int64_t rows, float* scratch) {
  using Run =
      void (*)(const TransposedShape&, const TransposedData&, int64_t, int64_t, int64_t, float*);
  TAPER_CHOOSE(Run, transposed_form)(shape, data, image, first, rows, scratch);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
