// torchvision::roi_pool.out and ps_roi_pool.out: the maximum, or the mean, of the pixels of each
// bin of a region (cores/vision/regions.h describes the tensors).
//
//   spatial_scale  pixels of the input per unit of rois
//   argmax         of roi_pool: the index of the maximum in its plane, -1 if there is none; int32
//
// Corners of regions are rounded to pixels, halves away from zero. Bins overlap where a border
// splits a pixel. A bin without pixels is 0. No maximum is less than the lowest float32, and NaN is
// none. ps_roi_pool leaves out the last row and column of the image, as torchvision does. Corners
// out of +-2^31 are moved there. 16-bit floats are computed as float32.

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels_portable/cores/vision/regions.h"
#include "kernels_portable/engine/compute.h"

namespace taper::portable {
namespace {

// Where a region starts along one axis, the extent of a bin, and the pixels that count.
template <typename T>
struct Axis {
  int64_t start;
  T bin;
  int64_t size;

  int64_t clip(T edge) const {
    return std::clamp<int64_t>(static_cast<int64_t>(edge) + start, 0, size);
  }
  int64_t first(int64_t index) const { return clip(std::floor(static_cast<T>(index) * bin)); }
  int64_t last(int64_t index) const { return clip(std::ceil(static_cast<T>(index + 1) * bin)); }
};

template <typename T>
int64_t to_pixel(T place) {
  constexpr T kMost = T(2147483648);
  if (place != place) return 0;
  return static_cast<int64_t>(std::round(std::clamp(place, -kMost, kMost)));
}

template <typename T>
class RegionPool {
 public:
  RegionPool(const Tensor& input, const Bins& bins, Tensor& out, Tensor& second)
      : in_(images_of(input)),
        out_(images_of(out)),
        second_(images_of(second)),
        bins_(bins),
        load_(loader<T>(in_.type)) {}

  void pool(int64_t k, const Region<T>& region) const {
    const Axis<T> y = axis(region.y1, region.y2, bins_.rows, in_.height);
    const Axis<T> x = axis(region.x1, region.x2, bins_.columns, in_.width);
    for (int64_t bin = 0; bin < bins_.count(); ++bin) {
      const int64_t row = bin / bins_.columns, column = bin % bins_.columns;
      const Window window = {y.first(row), y.last(row), x.first(column), x.last(column)};
      for (int64_t c = 0; c < out_.channels; ++c) {
        const int64_t from = bins_.first_channel(row, column) + c * bins_.channel_step();
        int32_t index = -1;
        const T result = reduce(window, region.image, from, &index);
        store_one(result, out_.at(k, c, row, column), out_.type);
        if (bins_.position_sensitive) continue;
        *static_cast<int32_t*>(second_.at(k, c, row, column)) = index;
      }
    }
  }

 private:
  struct Window {
    int64_t top, bottom, left, right;
    bool is_empty() const { return bottom <= top || right <= left; }
    int64_t area() const { return (bottom - top) * (right - left); }
  };

  Axis<T> axis(T from, T to, int64_t bins, int64_t size) const {
    const int64_t start = to_pixel(from), last = bins_.position_sensitive ? 0 : 1;
    const int64_t extent = std::max<int64_t>(to_pixel(to) - start + last, 1);
    return {start, static_cast<T>(extent) / static_cast<T>(bins), size - 1 + last};
  }

  // The maximum, or the mean, of a window of one channel.
  T reduce(const Window& window, int64_t image, int64_t channel, int32_t* index) const {
    if (window.is_empty()) return T{0};
    T best = -static_cast<T>(std::numeric_limits<float>::max()), sum = T{0};
    for (int64_t y = window.top; y < window.bottom; ++y) {
      for (int64_t x = window.left; x < window.right; x += kPixels) {
        T values[kPixels];
        const int64_t count = std::min(kPixels, window.right - x);
        load_(in_.at(image, channel, y, x), in_.column_stride, count, values);
        for (int64_t i = 0; i < count; ++i) {
          sum += values[i];
          if (!(values[i] > best)) continue;
          best = values[i];
          *index = static_cast<int32_t>(y * in_.width + x + i);
        }
      }
    }
    return bins_.position_sensitive ? sum / static_cast<T>(window.area()) : best;
  }

  static constexpr int64_t kPixels = 32;  // How many are read at a time.

  const Images in_;
  const Images out_;
  const Images second_;
  const Bins& bins_;
  const LoadFunction<T> load_;
};

Status pool(const Tensor& input, const Tensor& rois, double spatial_scale, const Bins& bins,
            Tensor& out, Tensor& second) {
  TAPER_TRY(prepare_regions(input, rois, bins, out, &second));
  if (bins.position_sensitive) write_channels(bins, second);
  if (out.numel() == 0) return {};
  return with_float_type(input.scalar_type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const RegionPool<T> regions(input, bins, out, second);
    return for_regions<T>(rois, spatial_scale, input.size(0),
                          [&](int64_t k, const Region<T>& region) { regions.pool(k, region); });
  });
}

Status roi_pool_out(KernelContext&, const Tensor& input, const Tensor& rois, double spatial_scale,
                    int64_t pooled_height, int64_t pooled_width, Tensor& out, Tensor& argmax) {
  return pool(input, rois, spatial_scale, {pooled_height, pooled_width, false}, out, argmax);
}

Status ps_roi_pool_out(KernelContext&, const Tensor& input, const Tensor& rois,
                       double spatial_scale, int64_t pooled_height, int64_t pooled_width,
                       Tensor& out, Tensor& channel_mapping) {
  return pool(input, rois, spatial_scale, {pooled_height, pooled_width, true}, out,
              channel_mapping);
}

}  // namespace

extern const Kernel kPsRoiPoolOut, kRoiPoolOut;
const Kernel kPsRoiPoolOut = make_kernel<ps_roi_pool_out>("torchvision::ps_roi_pool.out");
const Kernel kRoiPoolOut = make_kernel<roi_pool_out>("torchvision::roi_pool.out");

}  // namespace taper::portable
