// torchvision::roi_align.out and ps_roi_align.out: the mean of samples of each bin of a region,
// where a sample is interpolated between four pixels; cores/vision/regions.h describes the tensors.
//
//   spatial_scale   pixels of the input per unit of rois
//   sampling_ratio  samples along each side of a bin; if it is not positive, one per started pixel
//   aligned         whether pixel centres lie at 0.5; if not, regions are at least one pixel wide.
//                   ps_roi_align is always aligned.
//
// A sample more than one pixel outside of the image, or whose place is NaN, counts as zero. So does
// a bin whose sides have more than 2^20 samples. ps_roi_align divides by the number of samples even
// if it is zero, which gives NaN, as in torchvision. 16-bit floats are computed as float32.

#include <algorithm>
#include <cmath>

#include "kernels_portable/cores/vision/regions.h"
#include "kernels_portable/engine/compute.h"

namespace taper::portable {
namespace {

// The samples of a region along one axis.
template <typename T>
struct Axis {
  T start, bin;     // Where the region starts, and the extent of a bin.
  T samples;        // In one bin: an integer, which may be negative or huge.
  int64_t size;     // Pixels of the image.
  int64_t spacing;  // The stride of a pixel.

  T place(int64_t index, int64_t sample) const {
    return static_cast<T>(index) * bin + start + (static_cast<T>(sample) + T(0.5)) * bin / samples;
  }

  // The range [first, last) of samples of a bin that may lie in the image.
  void inside(int64_t index, int64_t* first, int64_t* last) const {
    constexpr double kMost = 1 << 20, kMargin = 4;
    *first = *last = 0;
    if (!(samples > T{0} && static_cast<double>(samples) <= kMost)) return;
    *last = static_cast<int64_t>(samples);
    const double step = static_cast<double>(bin) / static_cast<double>(samples);
    const double begin =
        static_cast<double>(index) * static_cast<double>(bin) + static_cast<double>(start);
    if (*last <= 2 * kMargin || !(step > 0) || !std::isfinite(begin)) return;
    const double low = (-1 - begin) / step - kMargin;
    const double high = (static_cast<double>(size) - begin) / step + kMargin;
    *first = static_cast<int64_t>(std::clamp(low, 0.0, static_cast<double>(samples)));
    *last = static_cast<int64_t>(std::clamp(high, 0.0, static_cast<double>(samples)));
  }

  // The two pixels that a sample lies between, as offsets, and their weights; false if it lies
  // outside of the image.
  bool interpolate(T at, int64_t (&pixels)[2], T (&weights)[2]) const {
    if (!(at >= T(-1) && at <= static_cast<T>(size))) return false;
    at = std::max(at, T{0});
    const int64_t low = std::min(static_cast<int64_t>(at), size - 1);
    const int64_t high = std::min(low + 1, size - 1);
    weights[1] = low == size - 1 ? T{0} : at - static_cast<T>(low);
    weights[0] = T(1) - weights[1];
    pixels[0] = low * spacing;
    pixels[1] = high * spacing;
    return true;
  }
};

template <typename T>
class RegionSampler {
 public:
  RegionSampler(const Tensor& input, const Bins& bins, int64_t sampling_ratio, bool aligned,
                Tensor& out)
      : in_(images_of(input)),
        out_(images_of(out)),
        bins_(bins),
        ratio_(sampling_ratio),
        aligned_(aligned),
        load_(loader<T>(in_.type)),
        store_(storer<T>(in_.type)) {}

  // Channels are the outer loop, so that a region's pixels stay in the cache from bin to bin.
  void sample(int64_t k, const Region<T>& region) const {
    const Axis<T> y = axis(region.y1, region.y2, bins_.rows, in_.height, in_.row_stride);
    const Axis<T> x = axis(region.x1, region.x2, bins_.columns, in_.width, in_.column_stride);
    const T count = y.samples * x.samples;
    const T divisor = bins_.position_sensitive ? count : std::max(T(1), count);
    for (int64_t c = 0; c < out_.channels; c += kChannels) {
      const int64_t channels = std::min(kChannels, out_.channels - c);
      for (int64_t bin = 0; bin < bins_.count(); ++bin) {
        const int64_t row = bin / bins_.columns, column = bin % bins_.columns;
        T sums[kChannels] = {};
        const int64_t first = bins_.first_channel(row, column) + c * bins_.channel_step();
        sum_bin(y, x, row, column, in_.at(region.image, first, 0, 0), channels, sums);
        for (T& sum : sums) sum /= divisor;
        store_(sums, channels, out_.at(k, c, row, column), out_.channel_stride);
      }
    }
  }

 private:
  static constexpr int64_t kChannels = 32;  // How many are computed at a time.

  Axis<T> axis(T from, T to, int64_t bins, int64_t size, int64_t spacing) const {
    const T shift = aligned_ ? T(0.5) : T{0};
    T extent = (to - shift) - (from - shift);
    if (!aligned_) extent = std::max(extent, T(1));
    const T bin = extent / static_cast<T>(bins);
    return {from - shift, bin, ratio_ > 0 ? static_cast<T>(ratio_) : std::ceil(bin), size, spacing};
  }

  void sum_bin(const Axis<T>& y, const Axis<T>& x, int64_t row, int64_t column, const void* plane,
               int64_t channels, T* sums) const {
    int64_t first_y, last_y, first_x, last_x, rows[2], columns[2];
    T of_rows[2], of_columns[2];
    y.inside(row, &first_y, &last_y);
    x.inside(column, &first_x, &last_x);
    for (int64_t iy = first_y; iy < last_y; ++iy) {
      if (!y.interpolate(y.place(row, iy), rows, of_rows)) continue;
      for (int64_t ix = first_x; ix < last_x; ++ix) {
        if (!x.interpolate(x.place(column, ix), columns, of_columns)) continue;
        int64_t pixels[4];
        T weights[4];
        for (int i = 0; i < 4; ++i) {
          pixels[i] = rows[i / 2] + columns[i % 2];
          weights[i] = of_rows[i / 2] * of_columns[i % 2];
        }
        add_sample(plane, pixels, weights, channels, sums);
      }
    }
  }

  // Adds the weighted pixels of a sample to the sums of consecutive channels.
  void add_sample(const void* plane, const int64_t (&pixels)[4], const T (&weights)[4],
                  int64_t channels, T* sums) const {
    const int64_t step = in_.channel_stride * bins_.channel_step();
    if (in_.type == native_type<T>()) {
      const T* from = static_cast<const T*>(plane);
      for (int64_t c = 0; c < channels; ++c, from += step) {
        sums[c] += weights[0] * from[pixels[0]] + weights[1] * from[pixels[1]] +
                   weights[2] * from[pixels[2]] + weights[3] * from[pixels[3]];
      }
      return;
    }
    for (int i = 0; i < 4; ++i) {
      T values[kChannels];
      load_(element(plane, pixels[i], in_.type), step, channels, values);
      for (int64_t c = 0; c < channels; ++c) sums[c] += weights[i] * values[c];
    }
  }

  const Images in_;
  const Images out_;
  const Bins& bins_;
  const int64_t ratio_;
  const bool aligned_;
  const LoadFunction<T> load_;
  const StoreFunction<T> store_;
};

Status align(const Tensor& input, const Tensor& rois, double spatial_scale, const Bins& bins,
             int64_t sampling_ratio, bool aligned, Tensor& out, Tensor* mapping) {
  TAPER_TRY(prepare_regions(input, rois, bins, out, mapping));
  TAPER_REQUIRE(sampling_ratio <= 1024, Error::kInvalidArgument,
                "roi_align: sampling_ratio must be at most 1024");
  if (mapping != nullptr) write_channels(bins, *mapping);
  if (out.numel() == 0) return {};
  return with_float_type(input.scalar_type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const RegionSampler<T> sampler(input, bins, sampling_ratio, aligned, out);
    return for_regions<T>(rois, spatial_scale, input.size(0),
                          [&](int64_t k, const Region<T>& region) { sampler.sample(k, region); });
  });
}

Status roi_align_out(KernelContext&, const Tensor& input, const Tensor& rois, double spatial_scale,
                     int64_t pooled_height, int64_t pooled_width, int64_t sampling_ratio,
                     bool aligned, Tensor& out) {
  return align(input, rois, spatial_scale, {pooled_height, pooled_width, false}, sampling_ratio,
               aligned, out, nullptr);
}

Status ps_roi_align_out(KernelContext&, const Tensor& input, const Tensor& rois,
                        double spatial_scale, int64_t pooled_height, int64_t pooled_width,
                        int64_t sampling_ratio, Tensor& out, Tensor& channel_mapping) {
  return align(input, rois, spatial_scale, {pooled_height, pooled_width, true}, sampling_ratio,
               true, out, &channel_mapping);
}

}  // namespace

extern const Kernel kPsRoiAlignOut, kRoiAlignOut;
const Kernel kPsRoiAlignOut = make_kernel<ps_roi_align_out>("torchvision::ps_roi_align.out");
const Kernel kRoiAlignOut = make_kernel<roi_align_out>("torchvision::roi_align.out");

}  // namespace taper::portable
