// The walk over windows that max and average pooling share; pool.h says how.

#include "kernels_portable/cores/pool.h"

#include <algorithm>

#include "kernels_portable/engine/compute.h"

namespace taper::portable {
namespace {

bool is_option(IntList list, int64_t least) {
  return (list.size() == 1 || list.size() == 2) &&
         std::all_of(list.begin(), list.end(),
                     [=](int64_t value) { return value >= least && value <= INT32_MAX; });
}

int64_t option(IntList list, size_t d) { return list.size() == 1 ? list[0] : list[d]; }

Status describe_window(const PoolOptions& options, size_t d, int64_t in, Window* window) {
  const IntList stride = options.stride.empty() ? options.kernel : options.stride;
  *window = {in,
             0,
             option(options.kernel, d),
             option(stride, d),
             option(options.padding, d),
             option(options.dilation, d)};
  const int64_t reach = (window->kernel - 1) * window->dilation + 1;
  TAPER_REQUIRE(window->padding <= reach / 2, Error::kInvalidArgument,
                "pooling: padding must be at most half the kernel's size");
  const int64_t room = in + 2 * window->padding - reach;
  const int64_t rounding = options.ceil_mode ? window->stride - 1 : 0;
  TAPER_REQUIRE(in > 0 && room + rounding >= 0, Error::kInvalidArgument,
                "pooling: the kernel is larger than the padded input");
  window->out = (room + rounding) / window->stride + 1;
  // The last window starts inside the input or its left padding.
  if (options.ceil_mode && (window->out - 1) * window->stride >= in + window->padding) {
    --window->out;
  }
  return {};
}

// Of `count` outputs from `y` on, the lanes [first, last) whose tap at input distance `t` lies
// inside the input.
struct Range {
  int64_t first;
  int64_t last;
};
Range inside(const Window& window, int64_t y, int64_t count, int64_t t) {
  const int64_t x = window.start(y) + t;
  const int64_t first = x >= 0 ? 0 : (-x + window.stride - 1) / window.stride;
  const int64_t last = x >= window.in ? 0 : (window.in - x + window.stride - 1) / window.stride;
  return {std::min(first, count), std::min(last, count)};
}

// Calls visit(x) for each input x in the window of output y.
template <typename Visit>
void for_each_tap(const Window& window, int64_t y, Visit visit) {
  for (int64_t i = 0; i < window.kernel; ++i) {
    const int64_t x = window.start(y) + i * window.dilation;
    if (x >= 0 && x < window.in) visit(x);
  }
}

template <typename T>
void pool_columns(const Pooling& p, LoadFunction<T> load, int64_t n, int64_t c, int64_t y,
                  PoolLanes<T>& lanes) {
  T values[kPoolLanes];
  for (int64_t x = 0; x < p.columns.out; x += kPoolLanes) {
    const int64_t count = std::min(kPoolLanes, p.columns.out - x);
    lanes.begin(y, x, 1, count);
    for_each_tap(p.rows, y, [&](int64_t row) {
      for (int64_t i = 0; i < p.columns.kernel; ++i) {
        const int64_t t = i * p.columns.dilation;
        const Range range = inside(p.columns, x, count, t);
        if (range.last <= range.first) continue;
        const int64_t column = p.columns.start(x + range.first) + t;
        load(p.in.at(n, c, row, column), p.in.column_stride * p.columns.stride,
             range.last - range.first, values);
        lanes.add(range.first, range.last - range.first, values, row * p.in.width + column,
                  p.columns.stride);
      }
    });
    lanes.end(p.out.offset(n, c, y, x), p.out.column_stride);
  }
}

template <typename T>
void pool_channels(const Pooling& p, LoadFunction<T> load, int64_t n, int64_t y, int64_t x,
                   PoolLanes<T>& lanes) {
  T values[kPoolLanes];
  for (int64_t c = 0; c < p.out.channels; c += kPoolLanes) {
    const int64_t count = std::min(kPoolLanes, p.out.channels - c);
    lanes.begin(y, x, 0, count);
    for_each_tap(p.rows, y, [&](int64_t row) {
      for_each_tap(p.columns, x, [&](int64_t column) {
        load(p.in.at(n, c, row, column), p.in.channel_stride, count, values);
        lanes.add(0, count, values, row * p.in.width + column, 0);
      });
    });
    lanes.end(p.out.offset(n, c, y, x), p.out.channel_stride);
  }
}

}  // namespace

Status describe_pooling(const Tensor& input, const PoolOptions& options, Pooling* pooling,
                        int64_t* sizes) {
  TAPER_REQUIRE(input.dim() == 3 || input.dim() == 4, Error::kInvalidArgument,
                "pooling: input must have three or four dimensions");
  TAPER_REQUIRE(is_option(options.kernel, 1), Error::kInvalidArgument,
                "pooling: kernel_size must be one or two positive numbers");
  TAPER_REQUIRE(options.stride.empty() || is_option(options.stride, 1), Error::kInvalidArgument,
                "pooling: stride must be one or two positive numbers");
  TAPER_REQUIRE(is_option(options.padding, 0), Error::kInvalidArgument,
                "pooling: padding must be one or two numbers that are not negative");
  TAPER_REQUIRE(is_option(options.dilation, 1), Error::kInvalidArgument,
                "pooling: dilation must be one or two positive numbers");
  pooling->in = images_of(input);
  TAPER_REQUIRE(pooling->in.channels > 0, Error::kInvalidArgument,
                "pooling: input has no channels");
  TAPER_TRY(describe_window(options, 0, pooling->in.height, &pooling->rows));
  TAPER_TRY(describe_window(options, 1, pooling->in.width, &pooling->columns));
  const int64_t rank = input.dim();
  for (int64_t d = 0; d < rank; ++d) sizes[d] = input.size(d);
  sizes[rank - 2] = pooling->rows.out;
  sizes[rank - 1] = pooling->columns.out;
  return {};
}

template <typename T>
void pool(const Pooling& p, PoolLanes<T>& lanes) {
  const LoadFunction<T> load = loader<T>(p.in.type);
  for (int64_t n = 0; n < p.out.batch; ++n) {
    if (p.out.is_channels_last()) {
      for (int64_t y = 0; y < p.rows.out; ++y) {
        for (int64_t x = 0; x < p.columns.out; ++x) pool_channels(p, load, n, y, x, lanes);
      }
      continue;
    }
    for (int64_t c = 0; c < p.out.channels; ++c) {
      for (int64_t y = 0; y < p.rows.out; ++y) pool_columns(p, load, n, c, y, lanes);
    }
  }
}

template void pool<float>(const Pooling&, PoolLanes<float>&);
template void pool<double>(const Pooling&, PoolLanes<double>&);
template void pool<int64_t>(const Pooling&, PoolLanes<int64_t>&);

}  // namespace taper::portable
