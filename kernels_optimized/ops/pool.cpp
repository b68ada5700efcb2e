// Max and average pooling of float images, also into a given number of windows (adaptive).
//
// Where the pixels of a row are contiguous, an output row takes two steps. The first combines the
// rows of its windows: vectors of neighbouring columns, whole rows of memory. The second combines
// columns of the result, which has the padding on both sides, so that no window is a special case.
// Where channels are contiguous, vectors of them are combined over the pixels of a window.

#include <cstring>
#include <limits>

#include "kernels_optimized/cores/pool_windows.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/view.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/pool.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vectors.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

const hn::RebindToSigned<Tag> kInts;
using Ints = hn::Vec<decltype(kInts)>;

// Larger than any row: that of the padding.
constexpr int32_t kNowhere = INT32_MAX;

// An element and where it is: at first nothing, which is less than all.
struct Found {
  HWY_INLINE Found()
      : value(hn::Set(kTag, -std::numeric_limits<float>::infinity())),
        row(hn::Set(kInts, kNowhere)),
        column(hn::Zero(kInts)) {}
  HWY_INLINE Found(Vec value, Ints row, Ints column) : value(value), row(row), column(column) {}

  Vec value;
  Ints row;
  Ints column;
};

HWY_INLINE Ints all(int64_t place) { return hn::Set(kInts, static_cast<int32_t>(place)); }

HWY_INLINE void replace(hn::Mask<Tag> where, const Found& other, Found* best) {
  const auto where_places = hn::RebindMask(kInts, where);
  best->value = hn::IfThenElse(where, other.value, best->value);
  best->row = hn::IfThenElse(where_places, other.row, best->row);
  best->column = hn::IfThenElse(where_places, other.column, best->column);
}

// Replaces `best` where PyTorch prefers `other`, which is in a later column: of equal elements it
// takes the first in their plane, and of those that are not a number the last.
HWY_INLINE void compare(const Found& other, Found* best) {
  const auto earlier = hn::RebindMask(kTag, hn::Lt(other.row, best->row));
  const auto first = hn::And(hn::Eq(other.value, best->value), earlier);
  const auto last =
      hn::And(hn::IsNaN(other.value), hn::Not(hn::And(hn::IsNaN(best->value), earlier)));
  replace(hn::Or(hn::Gt(other.value, best->value), hn::Or(first, last)), other, best);
}

// The same for an element that comes after all so far.
HWY_INLINE void compare_later(const Found& other, Found* best) {
  replace(hn::Or(hn::Gt(other.value, best->value), hn::IsNaN(other.value)), other, best);
}

// Writes the values of up to a vector of windows, and the indices of their elements.
HWY_INLINE void write(const Found& best, int64_t width, float* values, int64_t* indices,
                      int64_t count) {
  const hn::ScalableTag<int64_t> longs;
  const hn::Half<decltype(kInts)> half;
  const Ints index = hn::Add(hn::Mul(best.row, all(width)), best.column);
  const Ints found = hn::IfThenZeroElse(hn::Eq(best.row, all(kNowhere)), index);
  HWY_ALIGN int64_t lanes[kLanes];
  int64_t* to = count >= kLanes ? indices : lanes;
  hn::StoreU(hn::PromoteTo(longs, hn::LowerHalf(half, found)), longs, to);
  hn::StoreU(hn::PromoteTo(longs, hn::UpperHalf(half, found)), longs, to + kLanes / 2);
  if (count < kLanes) std::copy_n(lanes, count, indices);
  store_count(best.value, values, count);
}

// The first `count` of a vector of elements that are `stride` apart, in a row as row_floats() has
// it.
HWY_INLINE Vec load_every(const float* from, int64_t stride, int64_t count) {
  if (stride == 1) return hn::LoadU(kTag, from);
  if (stride == 2) {
    return hn::ConcatEven(kTag, hn::LoadU(kTag, from + kLanes), hn::LoadU(kTag, from));
  }
  HWY_ALIGN float lanes[kLanes] = {};
  for (int64_t i = 0; i < std::min(count, kLanes); ++i) lanes[i] = from[i * stride];
  return hn::Load(kTag, lanes);
}

// --- rows of pixels

// The largest element of each column in the rows of a window, and its row.
void find_in_columns(const PoolShape& p, const float* plane, Taps taps, float* values,
                     float* rows) {
  for (int64_t x = 0; x < p.in.width; x += kLanes) {
    const int64_t count = p.in.width - x;
    const auto load = [&](int64_t row)
                          HWY_ATTR { return load_count(plane + row * p.in.row_stride + x, count); };
    Found best;
    if (taps.first < taps.last) best = {load(taps.first), all(taps.first), best.column};
    for (int64_t row = taps.first + taps.step; row < taps.last; row += taps.step) {
      compare_later({load(row), all(row), best.column}, &best);
    }
    store_count(best.value, values + x, count);
    store_count(hn::BitCast(kTag, best.row), rows + x, count);
  }
}

void max_row(const PoolShape& p, int64_t n, int64_t c, int64_t y, float* scratch) {
  const portable::Window& window = p.columns.window;
  float* values = scratch;
  float* rows = scratch + p.row_floats(kLanes);
  find_in_columns(p, static_cast<const float*>(p.in.at(n, c, 0, 0)), p.rows.taps(y),
                  values + window.padding, rows + window.padding);
  float* out = static_cast<float*>(p.out.at(n, c, y, 0));
  int64_t* indices = p.indices + p.out.offset(n, c, y, 0);
  const Ints steps = hn::Mul(hn::Iota(kInts, 0), all(window.stride));
  for (int64_t x = 0; x < window.out; x += kLanes) {
    const int64_t count = window.out - x;
    Found best;
    for (int64_t k = 0; k < window.kernel; ++k) {
      const int64_t at = x * window.stride + k * window.dilation;
      const Vec value = load_every(values + at, window.stride, count);
      const Ints row = hn::BitCast(kInts, load_every(rows + at, window.stride, count));
      const Ints column = hn::Add(steps, all(at - window.padding));
      if (k == 0) {
        best = {value, row, column};
      } else {
        compare({value, row, column}, &best);
      }
    }
    write(best, p.in.width, out + x, indices + x, count);
  }
}

HWY_INLINE Vec mean(Vec sum, Vec divisor) {
  return hn::IfThenZeroElse(hn::Eq(divisor, hn::Zero(kTag)), hn::Div(sum, divisor));
}

void mean_row(const PoolShape& p, int64_t n, int64_t c, int64_t y, float* scratch) {
  const portable::Window& window = p.columns.window;
  float* sums = scratch;
  const float* divisors = scratch + p.row_floats(kLanes);
  const Taps rows = p.rows.taps(y);
  const float* plane = static_cast<const float*>(p.in.at(n, c, 0, 0));
  for (int64_t x = 0; x < p.in.width; x += kLanes) {
    Vec sum = hn::Zero(kTag);
    for (int64_t row = rows.first; row < rows.last; ++row) {
      sum = hn::Add(sum, load_count(plane + row * p.in.row_stride + x, p.in.width - x));
    }
    store_count(sum, sums + window.padding + x, p.in.width - x);
  }
  const float divisor = p.row_divisor(y);
  float* out = static_cast<float*>(p.out.at(n, c, y, 0));
  if (p.columns.is_adaptive) {
    for (int64_t x = 0; x < window.out; ++x) {
      const Taps columns = p.columns.taps(x);
      float sum = 0;
      for (int64_t column = columns.first; column < columns.last; ++column) sum += sums[column];
      out[x] = sum / (divisor * divisors[x]);
    }
    return;
  }
  for (int64_t x = 0; x < window.out; x += kLanes) {
    const int64_t count = window.out - x;
    Vec sum = hn::Zero(kTag);
    for (int64_t k = 0; k < window.kernel; ++k) {
      sum = hn::Add(sum, load_every(sums + x * window.stride + k, window.stride, count));
    }
    const Vec by = hn::Mul(hn::Set(kTag, divisor), hn::LoadU(kTag, divisors + x));
    store_count(mean(sum, by), out + x, count);
  }
}

// What stays the same for all rows of a thread: the padding and its rows, or divisors of columns.
void prepare(const PoolShape& p, float* scratch) {
  const int64_t floats = p.row_floats(kLanes);
  const bool is_max = p.indices != nullptr;
  std::fill_n(scratch, floats, is_max ? -std::numeric_limits<float>::infinity() : 0.0F);
  float* second = scratch + floats;
  float nowhere = 0;
  if (is_max) std::memcpy(&nowhere, &kNowhere, sizeof(nowhere));
  std::fill_n(second, floats, nowhere);
  for (int64_t x = 0; !is_max && x < p.columns.window.out; ++x) second[x] = p.column_divisor(x);
}

// --- channels

template <int kVectors>
HWY_INLINE void max_pixel(const PoolShape& p, const float* image, int64_t y, int64_t x,
                          int64_t count, float* out, int64_t* indices) {
  const Taps rows = p.rows.taps(y), columns = p.columns.taps(x);
  Found best[kVectors];
  bool is_first = true;
  for (int64_t row = rows.first; row < rows.last; row += rows.step) {
    for (int64_t column = columns.first; column < columns.last; column += columns.step) {
      const float* from = image + row * p.in.row_stride + column * p.in.column_stride;
      TAPER_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        const Vec value = load_count(from + j * kLanes, count - j * kLanes);
        if (is_first) {
          best[j] = {value, all(row), all(column)};
        } else {
          compare_later({value, all(row), all(column)}, &best[j]);
        }
      }
      is_first = false;
    }
  }
  for (int j = 0; j < kVectors; ++j) {
    write(best[j], p.in.width, out + j * kLanes, indices + j * kLanes, count - j * kLanes);
  }
}

template <int kVectors>
HWY_INLINE void mean_pixel(const PoolShape& p, const float* image, int64_t y, int64_t x,
                           int64_t count, float* out) {
  const Taps rows = p.rows.taps(y), columns = p.columns.taps(x);
  Vec sums[kVectors];
  for (Vec& sum : sums) sum = hn::Zero(kTag);
  for (int64_t row = rows.first; row < rows.last; ++row) {
    for (int64_t column = columns.first; column < columns.last; ++column) {
      const float* from = image + row * p.in.row_stride + column * p.in.column_stride;
      TAPER_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        sums[j] = hn::Add(sums[j], load_count(from + j * kLanes, count - j * kLanes));
      }
    }
  }
  const Vec divisor = hn::Set(kTag, p.row_divisor(y) * p.column_divisor(x));
  for (int j = 0; j < kVectors; ++j) {
    store_count(mean(sums[j], divisor), out + j * kLanes, count - j * kLanes);
  }
}

template <int kVectors>
void pixel(const PoolShape& p, const float* image, int64_t y, int64_t x, int64_t count,
           int64_t to) {
  float* out = static_cast<float*>(p.out.data) + to;
  if (p.indices != nullptr) {
    max_pixel<kVectors>(p, image, y, x, count, out, p.indices + to);
  } else {
    mean_pixel<kVectors>(p, image, y, x, count, out);
  }
}

void row_of_pixels(const PoolShape& p, int64_t n, int64_t y) {
  for (int64_t x = 0; x < p.out.width; ++x) {
    const auto* image = static_cast<const float*>(p.in.at(n, 0, 0, 0));
    const int64_t channels = p.out.channels, to = p.out.offset(n, 0, y, x);
    int64_t c = 0;
    for (; c + 4 * kLanes <= channels; c += 4 * kLanes) {
      pixel<4>(p, image + c, y, x, 4 * kLanes, to + c);
    }
    for (; c < channels; c += kLanes) pixel<1>(p, image + c, y, x, channels - c, to + c);
  }
}

}  // namespace

// Computes the rows [first, last) of all of the output. Rows of pixels need scratch memory of twice
// row_floats().
void pool_form(const PoolShape& p, int64_t first, int64_t last, float* scratch) {
  if (p.is_by_channels()) {
    for (int64_t i = first; i < last; ++i) row_of_pixels(p, i / p.out.height, i % p.out.height);
    return;
  }
  prepare(p, scratch);
  for (int64_t i = first; i < last; ++i) {
    const int64_t plane = i / p.out.height;
    const int64_t n = plane / p.out.channels, c = plane % p.out.channels, y = i % p.out.height;
    p.indices != nullptr ? max_row(p, n, c, y, scratch) : mean_row(p, n, c, y, scratch);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using portable::describe_pooling;
using portable::images_of;
using portable::Pooling;
using portable::PoolOptions;
using Form = void (*)(const PoolShape&, int64_t, int64_t, float*);

constexpr int64_t kMostLanes = 16;

bool run(KernelContext& context, const PoolShape& p) {
  const Form form = TAPER_CHOOSE(Form, pool_form);
  if (form == nullptr || !p.is_fast()) return false;
  const int64_t by_channels = p.is_by_channels() ? p.out.channels : 1;
  const int64_t rows = p.out.batch * p.out.height * p.out.channels / by_channels;
  const int64_t work = p.row_work() * by_channels;
  if (p.is_by_channels()) {
    for_parts(context.pool(), rows, work, 1,
              [&](int64_t first, int64_t last) { form(p, first, last, nullptr); });
    return true;
  }
  bool has_memory = true;  // Without it there is one part.
  for_parts_with_scratch(context, rows, work, 2 * p.row_floats(kMostLanes),
                         [&](int64_t first, int64_t last, Span<float> scratch) {
                           if (scratch.size() == 0) {
                             has_memory = false;
                           } else {
                             form(p, first, last, scratch.data());
                           }
                         });
  return has_memory;
}

// Describes a pooling and gives the outputs their size; false if there is none.
bool describe(const Tensor& self, const PoolOptions& options, Tensor& out, PoolShape* shape) {
  Pooling pooling;
  int64_t sizes[4];
  if (!describe_pooling(self, options, &pooling, sizes).ok() ||
      !portable::resize_out(out, sizes, static_cast<size_t>(self.dim())).ok()) {
    return false;
  }
  *shape = {pooling.in, images_of(out), {pooling.rows, false}, {pooling.columns, false}, false,
            0,          nullptr};
  return true;
}

bool fast_max(KernelContext& context, const Tensor& self, IntList kernel_size, IntList stride,
              IntList padding, IntList dilation, bool ceil_mode, Tensor& out, Tensor& indices) {
  PoolShape shape;
  if (!are_float(self, out) || indices.scalar_type() != ScalarType::kLong ||
      !describe(self, {kernel_size, stride, padding, dilation, ceil_mode}, out, &shape) ||
      !indices.resize(out.sizes()).ok() ||
      !std::equal(out.strides().begin(), out.strides().end(), indices.strides().begin())) {
    return false;
  }
  shape.indices = indices.mutable_data_ptr<int64_t>();
  return run(context, shape);
}

bool fast_mean(KernelContext& context, const Tensor& self, IntList kernel_size, IntList stride,
               IntList padding, bool ceil_mode, bool count_include_pad,
               std::optional<int64_t> divisor_override, Tensor& out) {
  PoolShape shape;
  const int64_t one[] = {1};
  if (!are_float(self, out) || divisor_override == 0 ||
      !describe(self, {kernel_size, stride, padding, one, ceil_mode}, out, &shape)) {
    return false;
  }
  shape.count_padding = count_include_pad;
  shape.divisor = divisor_override.value_or(0);
  return run(context, shape);
}

bool fast_adaptive(KernelContext& context, const Tensor& self, IntList output_size, Tensor& out) {
  if (!are_float(self, out) || (self.dim() != 3 && self.dim() != 4) || output_size.size() != 2 ||
      output_size[0] < 0 || output_size[1] < 0) {
    return false;
  }
  const portable::Images in = images_of(self);
  int64_t sizes[4];
  const auto rank = static_cast<size_t>(self.dim());
  std::copy(self.sizes().begin(), self.sizes().end(), sizes);
  sizes[rank - 2] = output_size[0];
  sizes[rank - 1] = output_size[1];
  if (in.channels == 0 || in.height == 0 || in.width == 0 ||
      !portable::resize_out(out, sizes, rank).ok()) {
    return false;
  }
  const Axis rows = {{in.height, output_size[0], 0, 0, 0, 0}, true};
  const Axis columns = {{in.width, output_size[1], 0, 0, 0, 0}, true};
  return run(context, {in, images_of(out), rows, columns, false, 0, nullptr});
}

}  // namespace

extern const Kernel kAdaptiveAvgPool2dOut, kAvgPool2dOut, kMaxPool2dWithIndicesOut;
const Kernel kAdaptiveAvgPool2dOut =
    overlay<fast_adaptive, portable::kAdaptiveAvgPool2dOut>("aten::_adaptive_avg_pool2d.out");
const Kernel kAvgPool2dOut = overlay<fast_mean, portable::kAvgPool2dOut>("aten::avg_pool2d.out");
const Kernel kMaxPool2dWithIndicesOut =
    overlay<fast_max, portable::kMaxPool2dWithIndicesOut>("aten::max_pool2d_with_indices.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
