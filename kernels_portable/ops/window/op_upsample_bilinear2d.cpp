// aten::upsample_bilinear2d.vec_out: every output pixel is interpolated linearly between the four
// input pixels around it.
//
//   align_corners  whether the centres of the corner pixels coincide, or their outer edges.
//   Types          floating point, and uint8 (resample_bytes.h).

#include <algorithm>

#include "kernels_portable/cores/resample_bytes.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

constexpr int64_t kLanes = 64;
constexpr int64_t kRowPart = 2 * kLanes;  // The number of input elements that are read at once.

// Output y lies between inputs low and high: it is low + weight * (high - low).
template <typename T>
struct Between {
  int64_t low;
  int64_t high;
  T weight;
};

template <typename T>
Between<T> locate(const Axis& axis, bool align_corners, int64_t y) {
  if (axis.in == axis.out) return {y, y, T{0}};
  const T scale = axis.scale<T>(align_corners);
  T x = align_corners ? scale * static_cast<T>(y)
                      : std::max(scale * (static_cast<T>(y) + T(0.5)) - T(0.5), T{0});
  x = std::min(x, static_cast<T>(axis.in - 1));
  const int64_t low = std::min(static_cast<int64_t>(x), axis.in - 1);
  return {low, std::min(low + 1, axis.in - 1), std::min(x - static_cast<T>(low), T{1})};
}

template <typename T>
T mix(T low, T high, T weight) {
  return low * (T{1} - weight) + high * weight;
}

template <typename T>
class Bilinear {
 public:
  Bilinear(const Resampling& resampling, bool align_corners)
      : r_(resampling),
        align_(align_corners),
        load_(loader<T>(r_.in.type)),
        store_(storer<T>(r_.out.type)) {}

  void run() {
    for (int64_t y = 0; y < r_.rows.out; ++y) {
      row_ = locate<T>(r_.rows, align_, y);
      for (int64_t x = 0; x < r_.columns.out;) {
        const int64_t count = r_.out.is_channels_last() ? 1 : locate_columns(x);
        if (r_.out.is_channels_last()) columns_[0] = locate<T>(r_.columns, align_, x);
        for (int64_t n = 0; n < r_.out.batch; ++n) {
          if (r_.out.is_channels_last()) {
            mix_channels(n, y, x);
          } else {
            for (int64_t c = 0; c < r_.out.channels; ++c) mix_columns(n, c, y, x, count);
          }
        }
        x += count;
      }
    }
  }

 private:
  // Fills columns_ for as many outputs from `x` on as have their inputs within one part of a row.
  // Returns their number.
  int64_t locate_columns(int64_t x) {
    int64_t count = 0;
    for (; count < kLanes && x + count < r_.columns.out; ++count) {
      columns_[count] = locate<T>(r_.columns, align_, x + count);
      if (columns_[count].high - columns_[0].low >= kRowPart) break;
    }
    return count;
  }

  void mix_columns(int64_t n, int64_t c, int64_t y, int64_t x, int64_t count) {
    const int64_t first = columns_[0].low;
    const int64_t width = columns_[count - 1].high - first + 1;
    T above[kRowPart], below[kRowPart], result[kLanes];
    load_(r_.in.at(n, c, row_.low, first), r_.in.column_stride, width, above);
    load_(r_.in.at(n, c, row_.high, first), r_.in.column_stride, width, below);
    for (int64_t i = 0; i < width; ++i) above[i] = mix(above[i], below[i], row_.weight);
    for (int64_t i = 0; i < count; ++i) {
      const Between<T>& at = columns_[i];
      result[i] = mix(above[at.low - first], above[at.high - first], at.weight);
    }
    store_(result, count, r_.out.at(n, c, y, x), r_.out.column_stride);
  }

  void mix_channels(int64_t n, int64_t y, int64_t x) {
    const Between<T>& at = columns_[0];
    for (int64_t c = 0; c < r_.out.channels; c += kLanes) {
      const int64_t count = std::min(kLanes, r_.out.channels - c);
      T values[4][kLanes];
      load_(r_.in.at(n, c, row_.low, at.low), r_.in.channel_stride, count, values[0]);
      load_(r_.in.at(n, c, row_.low, at.high), r_.in.channel_stride, count, values[1]);
      load_(r_.in.at(n, c, row_.high, at.low), r_.in.channel_stride, count, values[2]);
      load_(r_.in.at(n, c, row_.high, at.high), r_.in.channel_stride, count, values[3]);
      for (int64_t i = 0; i < count; ++i) {
        values[0][i] = mix(mix(values[0][i], values[1][i], at.weight),
                           mix(values[2][i], values[3][i], at.weight), row_.weight);
      }
      store_(values[0], count, r_.out.at(n, c, y, x), r_.out.channel_stride);
    }
  }

  const Resampling& r_;
  const bool align_;
  const LoadFunction<T> load_;
  const StoreFunction<T> store_;
  Between<T> row_ = {};
  Between<T> columns_[kLanes] = {};
};

Status upsample_bilinear2d_out(KernelContext&, const Tensor& input,
                               std::optional<IntList> output_size, bool align_corners,
                               std::optional<DoubleList> scale_factors, Tensor& out) {
  const ScalarType type = input.scalar_type();
  TAPER_REQUIRE(is_floating(type) || type == ScalarType::kByte, Error::kInvalidType,
                "upsample_bilinear2d: input must be floating point or uint8");
  Resampling resampling;
  TAPER_TRY(describe_resampling(input, output_size, scale_factors, out, &resampling));
  if (type == ScalarType::kByte) {
    resample_bytes(resampling, align_corners, false);
    return {};
  }
  return with_float_type(type, [&](auto zero) -> Status {
    Bilinear<decltype(zero)>(resampling, align_corners).run();
    return {};
  });
}

}  // namespace

extern const Kernel kUpsampleBilinear2dVecOut;
const Kernel kUpsampleBilinear2dVecOut =
    make_kernel<upsample_bilinear2d_out>("aten::upsample_bilinear2d.vec_out");

}  // namespace taper::portable
