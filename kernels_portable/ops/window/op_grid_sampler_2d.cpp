// aten::grid_sampler_2d.out: samples images [n, c, h, w] at the points of a grid [n, y, x, 2],
// whose pairs are (x, y) with -1 and 1 at the edges of the image.
//
//   interpolation_mode  0 bilinear, 1 nearest, 2 bicubic
//   padding_mode        outside the image: 0 zeros, 1 the border, 2 a reflection
//   align_corners       whether -1 and 1 are the centres of the corner pixels or their outer edges

#include <algorithm>
#include <cmath>

#include "kernels_portable/cores/vision/image.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

enum Interpolation : int64_t { kBilinear = 0, kNearest = 1, kBicubic = 2 };
enum Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

// The weights of the cubic convolution filter with a = -0.75, for the four pixels around a point
// that lies `t` after the second of them.
template <typename T>
void cubic_weights(T t, T (&weights)[4]) {
  const T a = T(-0.75);
  const auto near = [=](T x) { return ((a + T(2)) * x - (a + T(3))) * x * x + T(1); };
  const auto far = [=](T x) { return ((a * x - T(5) * a) * x + T(8) * a) * x - T(4) * a; };
  weights[0] = far(t + T(1));
  weights[1] = near(t);
  weights[2] = near(T(1) - t);
  weights[3] = far(T(2) - t);
}

template <typename T>
class Sampler {
 public:
  Sampler(const Images& in, const Images& out, int64_t padding, bool align_corners)
      : in_(in),
        out_(out),
        padding_(padding),
        align_(align_corners),
        load_(loader<T>(in.type)),
        store_(storer<T>(out.type)) {}

  // Writes output pixel (y, x) of image n from the point (gx, gy) of the grid.
  void sample(int64_t interpolation, int64_t n, int64_t y, int64_t x, T gx, T gy) const {
    const T px = unnormalise(gx, in_.width);
    const T py = unnormalise(gy, in_.height);
    Taps taps;
    if (interpolation == kBilinear) {
      add_bilinear(taps, place(px, in_.width), place(py, in_.height));
    } else if (interpolation == kNearest) {
      taps.add(pixel(std::nearbyint(place(px, in_.width)), std::nearbyint(place(py, in_.height))),
               T(1));
    } else {
      add_bicubic(taps, px, py);
    }
    for (int64_t c = 0; c < in_.channels; c += kChannels) {
      sum_up(taps, n, c, std::min(kChannels, in_.channels - c), out_.at(n, c, y, x));
    }
  }

 private:
  T unnormalise(T g, int64_t size) const {
    const T extent = static_cast<T>(size);
    if (align_) return (g + T(1)) / T(2) * (extent - T(1));
    return ((g + T(1)) * extent - T(1)) / T(2);
  }

  // Moves a coordinate into the image as the padding mode says.
  T place(T x, int64_t size) const {
    if (padding_ == kZeros) return x;
    const T last = static_cast<T>(size - 1);
    if (padding_ == kReflection)
      x = align_ ? reflect(x, T{0}, last) : reflect(x, T(-0.5), last + T(0.5));
    return x > T{0} ? std::min(x, last) : T{0};  // NaN becomes 0.
  }
  static T reflect(T x, T low, T high) {
    const T span = high - low;
    if (span <= T{0}) return T{0};
    const T distance = std::abs(x - low);
    const T rest = std::fmod(distance, span);
    const bool odd = std::fmod(std::floor(distance / span), T(2)) != T{0};
    return odd ? high - rest : low + rest;
  }

  // How many channels are computed at a time.
  static constexpr int64_t kChannels = 32;
  static constexpr int64_t kOutside = -1;

  // The input pixels that contribute to an output pixel, and their weights; the same for all
  // channels.
  struct Taps {
    int64_t pixels[16];
    T weights[16];
    int count = 0;

    void add(int64_t pixel, T weight) {
      pixels[count] = pixel;
      weights[count++] = weight;
    }
  };

  void sum_up(const Taps& taps, int64_t n, int64_t c, int64_t channels, void* to) const {
    T sums[kChannels] = {}, values[kChannels];
    for (int i = 0; i < taps.count; ++i) {
      if (taps.pixels[i] == kOutside) {
        std::fill_n(values, channels, T{});
      } else {
        const void* from = element(in_.at(n, c, 0, 0), taps.pixels[i], in_.type);
        load_(from, in_.channel_stride, channels, values);
      }
      for (int64_t k = 0; k < channels; ++k) sums[k] += taps.weights[i] * values[k];
    }
    store_(sums, channels, to, out_.channel_stride);
  }

  // The offset in its plane of the pixel at integer coordinates; kOutside if there is none.
  int64_t pixel(T x, T y) const {
    const bool inside =
        x >= T{0} && x < static_cast<T>(in_.width) && y >= T{0} && y < static_cast<T>(in_.height);
    if (!inside) return kOutside;
    const int64_t column = std::min(static_cast<int64_t>(x), in_.width - 1);
    const int64_t row = std::min(static_cast<int64_t>(y), in_.height - 1);
    return row * in_.row_stride + column * in_.column_stride;
  }

  void add_bilinear(Taps& taps, T x, T y) const {
    const T left = std::floor(x), top = std::floor(y);
    const T wx[] = {left + T(1) - x, x - left}, wy[] = {top + T(1) - y, y - top};
    for (int i = 0; i < 4; ++i) {
      const int down = i / 2, right = i % 2;
      taps.add(pixel(left + static_cast<T>(right), top + static_cast<T>(down)),
               wy[down] * wx[right]);
    }
  }

  void add_bicubic(Taps& taps, T x, T y) const {
    const T left = std::floor(x), top = std::floor(y);
    T wx[4], wy[4];
    cubic_weights(x - left, wx);
    cubic_weights(y - top, wy);
    for (int i = 0; i < 16; ++i) {
      const T row = place(top + static_cast<T>(i / 4 - 1), in_.height);
      const T column = place(left + static_cast<T>(i % 4 - 1), in_.width);
      taps.add(pixel(column, row), wy[i / 4] * wx[i % 4]);
    }
  }

  const Images& in_;
  const Images& out_;
  const int64_t padding_;
  const bool align_;
  const LoadFunction<T> load_;
  const StoreFunction<T> store_;
};

Status grid_sampler_2d_out(KernelContext&, const Tensor& input, const Tensor& grid,
                           int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                           Tensor& out) {
  const ScalarType type = input.scalar_type();
  TAPER_REQUIRE(is_floating(type) && grid.scalar_type() == type && out.scalar_type() == type,
                Error::kInvalidType, "grid_sampler_2d: tensors must share one floating dtype");
  TAPER_REQUIRE(
      input.dim() == 4 && grid.dim() == 4 && grid.size(3) == 2 && grid.size(0) == input.size(0),
      Error::kInvalidArgument, "grid_sampler_2d: grid does not fit input");
  TAPER_REQUIRE(input.size(2) > 0 && input.size(3) > 0, Error::kInvalidArgument,
                "grid_sampler_2d: input has no pixels");
  TAPER_REQUIRE(interpolation_mode >= kBilinear && interpolation_mode <= kBicubic &&
                    padding_mode >= kZeros && padding_mode <= kReflection,
                Error::kInvalidArgument,
                "grid_sampler_2d: interpolation_mode and padding_mode must be 0, 1 or 2");
  const int64_t sizes[] = {input.size(0), input.size(1), grid.size(1), grid.size(2)};
  TAPER_TRY(resize_out(out, sizes, 4));
  const Images in = images_of(input);
  const Images to = images_of(out);
  const Span<const int32_t> strides = grid.strides();
  return with_float_type(type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const Sampler<T> sampler(in, to, padding_mode, align_corners);
    for (int64_t n = 0; n < to.batch; ++n) {
      for (int64_t y = 0; y < to.height; ++y) {
        for (int64_t x = 0; x < to.width; ++x) {
          T point[2];
          const int64_t first = n * strides[0] + y * strides[1] + x * strides[2];
          loader<T>(type)(element(grid.const_data(), first, type), strides[3], 2, point);
          sampler.sample(interpolation_mode, n, y, x, point[0], point[1]);
        }
      }
    }
    return {};
  });
}

}  // namespace

extern const Kernel kGridSampler2dOut;
const Kernel kGridSampler2dOut = make_kernel<grid_sampler_2d_out>("aten::grid_sampler_2d.out");

}  // namespace taper::portable
