// torchvision::deform_conv2d.out: a convolution whose taps are moved by offsets, and interpolated
// between pixels; outside of the image there are zeros.
//
//   input   [n, c, height, width]         weight  [out channels, c / groups, kernel_h, kernel_w]
//   offset  [n, offset_groups * kernel_h * kernel_w * 2, out_h, out_w], pairs (y, x) for each tap
//   mask    [n, offset_groups * kernel_h * kernel_w, out_h, out_w], factors; only if use_mask
//   bias    [out channels]                out     [n, out channels, out_h, out_w]
//
// All share one floating dtype; 16-bit floats are computed as float32. The channels of the input
// are divided into as many groups as share offsets. A tap whose place is NaN counts as zero.
//
// Sums are kept for a tile of 32 channels and 16 pixels of a row. For each tap the places of these
// pixels are computed once, then each input channel is sampled there.

#include <algorithm>
#include <cmath>

#include "kernels_portable/cores/vision/image.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

struct Side {
  int64_t stride, pad, dilation, in, kernel, out;
};

struct Layout {
  Side y, x;
  int64_t groups, offset_groups;
  bool use_mask;

  int64_t taps() const { return y.kernel * x.kernel; }
};

template <typename T>
class DeformConv {
 public:
  DeformConv(const Layout& layout, const Tensor& input, const Tensor& weight, const Tensor& offset,
             const Tensor& mask, const Tensor& bias, Tensor& out)
      : layout_(layout),
        in_(images_of(input)),
        weight_(images_of(weight)),
        offset_(images_of(offset)),
        mask_(images_of(layout.use_mask ? mask : offset)),
        out_(images_of(out)),
        bias_(bias),
        type_(input.scalar_type()),
        load_(loader<T>(type_)),
        store_(storer<T>(type_)) {}

  void run() {
    const int64_t per_group = out_.channels / layout_.groups;
    for (int64_t n = 0; n < out_.batch; ++n) {
      for (int64_t y = 0; y < out_.height; ++y) {
        for (int64_t x = 0; x < out_.width; x += kPixels) {
          for (int64_t c = 0; c < out_.channels;) {
            const int64_t group = c / per_group;
            const int64_t channels = std::min(kChannels, (group + 1) * per_group - c);
            compute({n, y, x, std::min(kPixels, out_.width - x), c, channels, group});
            c += channels;
          }
        }
      }
    }
  }

 private:
  static constexpr int64_t kPixels = 16, kChannels = 32;

  struct Tile {
    int64_t n, y, x, pixels, channel, channels, group;
  };
  // The pixels around a tap's place, as offsets in a plane or kOutside, and their weights.
  static constexpr int64_t kOutside = -1;
  struct Place {
    int64_t pixels[4];
    T weights[4];
  };

  void compute(const Tile& tile) {
    load_(element(bias_.const_data(), tile.channel, type_), 1, tile.channels, factors_);
    for (int64_t c = 0; c < tile.channels; ++c) std::fill_n(sums_[c], kPixels, factors_[c]);
    const int64_t per_offset = in_.channels / layout_.offset_groups;
    const int64_t first = tile.group * weight_.channels, last = first + weight_.channels;
    for (int64_t begin = first; begin < last;) {
      const int64_t offset_group = begin / per_offset;
      const int64_t end = std::min(last, (offset_group + 1) * per_offset);
      for (int64_t tap = 0; tap < layout_.taps(); ++tap) {
        for (int64_t i = 0; i < tile.pixels; ++i) find(tile, offset_group, tap, i);
        for (int64_t c = begin; c < end; ++c) add(tile, c, c - first, tap);
      }
      begin = end;
    }
    for (int64_t c = 0; c < tile.channels; ++c) {
      store_(sums_[c], tile.pixels, out_.at(tile.n, tile.channel + c, tile.y, tile.x),
             out_.column_stride);
    }
  }

  T read(const Images& from, int64_t n, int64_t c, int64_t y, int64_t x) const {
    return load_one<T>(from.at(n, c, y, x), type_);
  }

  // Finds the place of a tap for pixel `i` of the tile.
  void find(const Tile& tile, int64_t offset_group, int64_t tap, int64_t i) {
    const int64_t index = offset_group * layout_.taps() + tap;
    const int64_t x = tile.x + i;
    const T move_y = read(offset_, tile.n, 2 * index, tile.y, x);
    const T move_x = read(offset_, tile.n, 2 * index + 1, tile.y, x);
    const T at_y = start(layout_.y, tile.y, tap / layout_.x.kernel) + move_y;
    const T at_x = start(layout_.x, x, tap % layout_.x.kernel) + move_x;
    const T factor = layout_.use_mask ? read(mask_, tile.n, index, tile.y, x) : T(1);
    int64_t rows[2], columns[2];
    T of_rows[2], of_columns[2];
    const bool inside =
        surround(at_y, in_.height, rows, of_rows) && surround(at_x, in_.width, columns, of_columns);
    for (int k = 0; k < 4; ++k) {
      const int64_t row = rows[k / 2], column = columns[k % 2];
      if (!inside || row == kOutside || column == kOutside) {
        places_[i].pixels[k] = kOutside;
        continue;
      }
      places_[i].pixels[k] = row * in_.row_stride + column * in_.column_stride;
      places_[i].weights[k] = of_rows[k / 2] * of_columns[k % 2] * factor;
    }
  }
  static T start(const Side& side, int64_t index, int64_t tap) {
    return static_cast<T>(index * side.stride - side.pad + tap * side.dilation);
  }

  // The two pixels around a coordinate, or kOutside, and their weights. False if both lie outside.
  static bool surround(T at, int64_t size, int64_t (&pixels)[2], T (&weights)[2]) {
    pixels[0] = pixels[1] = kOutside;
    if (!(at > T(-1) && at < static_cast<T>(size))) return false;
    const T floor = std::floor(at);
    const auto low = static_cast<int64_t>(floor);
    weights[1] = at - floor;
    weights[0] = T(1) - weights[1];
    if (low >= 0) pixels[0] = low;
    if (low + 1 < size) pixels[1] = low + 1;
    return true;
  }

  // Adds one tap of one input channel, number `in_group` of its group, to the sums.
  void add(const Tile& tile, int64_t c, int64_t in_group, int64_t tap) {
    const void* plane = in_.at(tile.n, c, 0, 0);
    T values[kPixels] = {};
    for (int64_t i = 0; i < tile.pixels; ++i) {
      const Place& place = places_[i];
      for (int k = 0; k < 4; ++k) {
        if (place.pixels[k] == kOutside) continue;
        values[i] += place.weights[k] * pixel(plane, place.pixels[k]);
      }
    }
    load_(weight_.at(tile.channel, in_group, tap / layout_.x.kernel, tap % layout_.x.kernel),
          weight_.batch_stride, tile.channels, factors_);
    for (int64_t o = 0; o < tile.channels; ++o) {
      for (int64_t i = 0; i < kPixels; ++i) sums_[o][i] += factors_[o] * values[i];
    }
  }
  T pixel(const void* plane, int64_t offset) const {
    if (type_ == native_type<T>()) return static_cast<const T*>(plane)[offset];
    return load_one<T>(element(plane, offset, type_), type_);
  }

  const Layout& layout_;
  const Images in_, weight_, offset_, mask_, out_;
  const Tensor& bias_;
  const ScalarType type_;
  const LoadFunction<T> load_;
  const StoreFunction<T> store_;
  Place places_[kPixels];
  T sums_[kChannels][kPixels];
  T factors_[kChannels];
};

// Computes the size of the result along a side.
Status measure(Side* side) {
  constexpr int64_t kMost = int64_t{1} << 30;
  TAPER_REQUIRE(side->stride > 0 && side->stride <= kMost && side->pad >= 0 && side->pad <= kMost &&
                    side->dilation > 0 && side->dilation <= kMost && side->kernel > 0,
                Error::kInvalidArgument,
                "deform_conv2d: stride, dilation and kernel must be positive, and padding not "
                "negative");
  const int64_t room = side->in + 2 * side->pad - side->dilation * (side->kernel - 1) - 1;
  TAPER_REQUIRE(room >= 0, Error::kInvalidArgument,
                "deform_conv2d: the kernel is larger than the padded input");
  side->out = room / side->stride + 1;
  return {};
}

// Whether a tensor has the sizes of the result, and `channels`.
bool has_places(const Tensor& tensor, const Layout& layout, int64_t batch, int64_t channels) {
  return tensor.dim() == 4 && tensor.size(0) == batch && tensor.size(1) == channels &&
         tensor.size(2) == layout.y.out && tensor.size(3) == layout.x.out;
}

Status check_sizes(const Layout& layout, const Tensor& input, const Tensor& weight,
                   const Tensor& offset, const Tensor& mask, const Tensor& bias) {
  const int64_t groups = layout.groups, offset_groups = layout.offset_groups;
  TAPER_REQUIRE(groups > 0 && groups <= weight.size(0) && weight.size(0) % groups == 0 &&
                    input.size(1) % groups == 0 && weight.size(1) == input.size(1) / groups,
                Error::kInvalidArgument,
                "deform_conv2d: input and weight do not fit the number of groups");
  TAPER_REQUIRE(
      offset_groups > 0 && offset_groups <= input.size(1) && input.size(1) % offset_groups == 0,
      Error::kInvalidArgument, "deform_conv2d: channels must be a multiple of offset_groups");
  const int64_t places = offset_groups * layout.taps();
  TAPER_REQUIRE(has_places(offset, layout, input.size(0), 2 * places) &&
                    (!layout.use_mask || has_places(mask, layout, input.size(0), places)),
                Error::kInvalidArgument, "deform_conv2d: offset or mask does not fit the result");
  TAPER_REQUIRE(bias.dim() == 1 && bias.size(0) == weight.size(0), Error::kInvalidArgument,
                "deform_conv2d: bias must have one element per channel of the result");
  return {};
}

Status deform_conv2d_out(KernelContext&, const Tensor& input, const Tensor& weight,
                         const Tensor& offset, const Tensor& mask, const Tensor& bias,
                         int64_t stride_h, int64_t stride_w, int64_t pad_h, int64_t pad_w,
                         int64_t dilation_h, int64_t dilation_w, int64_t groups,
                         int64_t offset_groups, bool use_mask, Tensor& out) {
  const ScalarType type = input.scalar_type();
  TAPER_REQUIRE(is_floating(type) && weight.scalar_type() == type && offset.scalar_type() == type &&
                    mask.scalar_type() == type && bias.scalar_type() == type &&
                    out.scalar_type() == type,
                Error::kInvalidType, "deform_conv2d: tensors must share one floating dtype");
  TAPER_REQUIRE(input.dim() == 4 && weight.dim() == 4, Error::kInvalidArgument,
                "deform_conv2d: input and weight must have four dimensions");
  Layout layout = {
      {stride_h, pad_h, dilation_h, input.size(2), weight.size(2), 0},
      {stride_w, pad_w, dilation_w, input.size(3), weight.size(3), 0},
      groups,
      offset_groups,
      use_mask,
  };
  TAPER_TRY(measure(&layout.y));
  TAPER_TRY(measure(&layout.x));
  TAPER_TRY(check_sizes(layout, input, weight, offset, mask, bias));
  const int64_t sizes[] = {input.size(0), weight.size(0), layout.y.out, layout.x.out};
  TAPER_TRY(resize_out(out, sizes, 4));
  return with_float_type(type, [&](auto zero) -> Status {
    DeformConv<decltype(zero)> conv(layout, input, weight, offset, mask, bias, out);
    conv.run();
    return {};
  });
}

}  // namespace

extern const Kernel kDeformConv2dOut;
const Kernel kDeformConv2dOut = make_kernel<deform_conv2d_out>("torchvision::deform_conv2d.out");

}  // namespace taper::portable
