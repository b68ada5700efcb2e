// The windows of max and average pooling, for ops/pool.cpp.

#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels_portable/cores/pool.h"

namespace taper::optimized {

// The inputs of one window along a dimension, `step` apart, as far as they lie inside.
struct Taps {
  int64_t first, last, step;
};

// Windows along one dimension.
struct Axis {
  portable::Window window;
  bool is_adaptive;  // `window` has only the numbers of inputs and outputs.

  Taps taps(int64_t y) const {
    if (is_adaptive) {
      return {y * window.in / window.out, ((y + 1) * window.in + window.out - 1) / window.out, 1};
    }
    const int64_t start = window.start(y);
    const int64_t outside = start < 0 ? (-start + window.dilation - 1) / window.dilation : 0;
    const int64_t end = start + (window.kernel - 1) * window.dilation + 1;
    return {start + outside * window.dilation, std::min(end, window.in), window.dilation};
  }
  // How many inputs an average divides by; 0 if the window has none.
  int64_t extent(int64_t y, bool count_padding) const {
    const Taps inside = taps(y);
    if (inside.last <= inside.first) return 0;
    return is_adaptive ? inside.last - inside.first : window.extent(y, count_padding);
  }
};

// A pooling of images and where its results go.
struct PoolShape {
  portable::Images in;
  portable::Images out;
  Axis rows;
  Axis columns;
  bool count_padding;
  int64_t divisor;   // Instead of the number of elements, unless it is 0.
  int64_t* indices;  // Of maxima, at the places of `out`; null for means.

  bool is_by_channels() const { return in.is_channels_last() && out.is_channels_last(); }

  // Whether layouts and sizes are those that ops/pool.cpp is for; others are rare.
  bool is_fast() const {
    constexpr int64_t kLimit = int64_t{1} << 28;
    const portable::Window& window = columns.window;
    return (is_by_channels() || (in.column_stride == 1 && out.column_stride == 1)) &&
           in.height < kLimit && in.width < kLimit / std::max<int64_t>(1, in.height) &&
           out.width < kLimit && window.stride < kLimit && window.padding < kLimit &&
           window.kernel < kLimit && window.dilation < kLimit / std::max<int64_t>(1, window.kernel);
  }

  // The floats of a row of the input with its padding, if vectors of `lanes` outputs read it, and
  // at least as many as such a row of the output has.
  int64_t row_floats(int64_t lanes) const {
    const portable::Window& window = columns.window;
    const int64_t outputs = (window.out + lanes - 1) / lanes * lanes;
    if (columns.is_adaptive) return std::max(outputs, window.in);
    const int64_t read = (outputs + lanes) * window.stride + window.kernel * window.dilation;
    return std::max(read, window.padding + window.in);
  }

  // What a row of one channel costs, in units of parallel.h.
  int64_t row_work() const {
    const int64_t high = std::max<int64_t>(1, rows.window.kernel), wide = columns.window.kernel;
    return (in.width * high + 3 * out.width * wide) / 4 + 16;
  }

  // What the mean of a window is divided by; 0 if the window is empty.
  float row_divisor(int64_t y) const {
    const int64_t extent = rows.extent(y, count_padding);
    return static_cast<float>(divisor != 0 ? extent != 0 : extent);
  }
  float column_divisor(int64_t x) const {
    const int64_t extent = columns.extent(x, count_padding);
    return static_cast<float>(divisor != 0 && extent != 0 ? divisor : extent);
  }
};

}  // namespace taper::optimized
