// aten::_adaptive_avg_pool2d.out: means of windows that divide each plane into a given number of
// rows and columns; neighbouring windows may overlap.
//
// Output y covers inputs floor(y * in / out) up to ceil((y + 1) * in / out).

#include <algorithm>

#include "kernels_portable/cores/vision/image.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

constexpr int64_t kLanes = 64;

struct Span1d {
  int64_t first;
  int64_t last;
};
Span1d window(int64_t y, int64_t in, int64_t out) {
  return {y * in / out, ((y + 1) * in + out - 1) / out};
}

// The sum of `count` elements of a row.
template <typename T>
T sum_row(const Images& in, LoadFunction<T> load, const void* from, int64_t count) {
  T sums[4] = {};
  T values[kLanes];
  const int64_t size = static_cast<int64_t>(element_size(in.type));
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t part = std::min(kLanes, count - i);
    load(static_cast<const char*>(from) + i * in.column_stride * size, in.column_stride, part,
         values);
    std::fill(values + part, values + (part + 3) / 4 * 4, T{});
    for (int64_t j = 0; j < part; j += 4) {
      for (int64_t k = 0; k < 4; ++k) sums[k] += values[j + k];
    }
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <typename T>
void pool_planes(const Images& in, const Images& out) {
  const LoadFunction<T> load = loader<T>(in.type);
  const StoreFunction<T> store = storer<T>(out.type);
  for (int64_t n = 0; n < out.batch; ++n) {
    for (int64_t c = 0; c < out.channels; ++c) {
      for (int64_t y = 0; y < out.height; ++y) {
        const Span1d rows = window(y, in.height, out.height);
        for (int64_t x = 0; x < out.width; ++x) {
          const Span1d columns = window(x, in.width, out.width);
          const int64_t width = columns.last - columns.first;
          T sum = T{};
          for (int64_t row = rows.first; row < rows.last; ++row) {
            sum += sum_row(in, load, in.at(n, c, row, columns.first), width);
          }
          sum /= static_cast<T>((rows.last - rows.first) * width);
          store(&sum, 1, out.at(n, c, y, x), 1);
        }
      }
    }
  }
}

// The form for contiguous channels: computes many of them at once, one input row at a time.
template <typename T>
void pool_pixel(const Images& in, const Images& out, int64_t n, int64_t y, int64_t x) {
  const LoadFunction<T> load = loader<T>(in.type);
  const Span1d rows = window(y, in.height, out.height);
  const Span1d columns = window(x, in.width, out.width);
  const T area = static_cast<T>((rows.last - rows.first) * (columns.last - columns.first));
  for (int64_t c = 0; c < out.channels; c += kLanes) {
    const int64_t count = std::min(kLanes, out.channels - c);
    T total[kLanes] = {};
    for (int64_t row = rows.first; row < rows.last; ++row) {
      T sums[kLanes] = {};
      for (int64_t column = columns.first; column < columns.last; ++column) {
        T values[kLanes];
        load(in.at(n, c, row, column), in.channel_stride, count, values);
        for (int64_t i = 0; i < count; ++i) sums[i] += values[i];
      }
      for (int64_t i = 0; i < count; ++i) total[i] += sums[i];
    }
    for (int64_t i = 0; i < count; ++i) total[i] /= area;
    storer<T>(out.type)(total, count, out.at(n, c, y, x), out.channel_stride);
  }
}

template <typename T>
void pool_pixels(const Images& in, const Images& out) {
  for (int64_t n = 0; n < out.batch; ++n) {
    for (int64_t y = 0; y < out.height; ++y) {
      for (int64_t x = 0; x < out.width; ++x) pool_pixel<T>(in, out, n, y, x);
    }
  }
}

Status adaptive_avg_pool2d_out(KernelContext&, const Tensor& self, IntList output_size,
                               Tensor& out) {
  TAPER_REQUIRE(is_floating(self.scalar_type()) && out.scalar_type() == self.scalar_type(),
                Error::kInvalidType,
                "adaptive_avg_pool2d: self must be floating point and out of the same dtype");
  TAPER_REQUIRE(self.dim() == 3 || self.dim() == 4, Error::kInvalidArgument,
                "adaptive_avg_pool2d: self must have three or four dimensions");
  TAPER_REQUIRE(output_size.size() == 2 && output_size[0] >= 0 && output_size[1] >= 0,
                Error::kInvalidArgument, "adaptive_avg_pool2d: output_size must be two sizes");
  const Images in = images_of(self);
  TAPER_REQUIRE(in.channels > 0 && in.height > 0 && in.width > 0, Error::kInvalidArgument,
                "adaptive_avg_pool2d: self has an empty dimension");
  int64_t sizes[4];
  const size_t rank = static_cast<size_t>(self.dim());
  for (size_t d = 0; d < rank; ++d) sizes[d] = self.sizes()[d];
  sizes[rank - 2] = output_size[0];
  sizes[rank - 1] = output_size[1];
  TAPER_TRY(resize_out(out, sizes, rank));
  const Images to = images_of(out);
  return with_float_type(self.scalar_type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const bool channels_last = in.channel_stride == 1 && in.column_stride != 1;
    channels_last ? pool_pixels<T>(in, to) : pool_planes<T>(in, to);
    return {};
  });
}

}  // namespace

extern const Kernel kAdaptiveAvgPool2dOut;
const Kernel kAdaptiveAvgPool2dOut =
    make_kernel<adaptive_avg_pool2d_out>("aten::_adaptive_avg_pool2d.out");

}  // namespace taper::portable
