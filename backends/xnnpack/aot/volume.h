// Convolutions of volumes as convolutions of images, which is all that XNNPACK has.
//
// A volume is [n, d, h, w, c], channels last. If the window is 1 high and wide, its columns are
// images [n, d, h * w, c] with windows along their height. Otherwise the images are slices,
// [n * d, h, w, c]. A window that is k deep reads k slices at a time, one after another along the
// channels: [n * d, h, w, k * c]. In groups, the channels of each group are next to each other;
// if these have one channel each, the convolution is a sum of k, one for each slice.
//
// A transposed convolution whose stride in depth is s makes s slices at a time, each by every s-th
// slice of its window. They are next to each other along the channels: [n * d, h, w, s * c]. Those
// made by as many slices of the window are made by one convolution.

#pragma once

#include <string>
#include <vector>

#include "backends/xnnpack/aot/lowering.h"

namespace taper::xnnpack {

// Which images a volume is, for a convolution.
enum class Volume { kNone, kSlices, kColumns };

// kNone unless the input has rank 5.
Volume volume_of(const exir::Node& convolution);

// Why a convolution of a volume is not taken; empty if it is.
std::string volume_refusal(const exir::Node& convolution);

// Slices that a transposed convolution makes at a time: those from `first` on, number i by the
// slices i, i + stride, ... of the window.
struct Phases {
  int64_t first = 0, count = 1, taps = 1, stride = 1;
};

// What a convolution does along the depth.
struct Depth {
  int64_t in, out, kernel, stride, padding, dilation;
  bool transposed;

  explicit Depth(const exir::Node& convolution);
  // Of a transposed convolution: at how many positions it makes slices, of how many at most, and
  // which.
  int64_t positions() const { return (out + padding + stride - 1) / stride; }
  int64_t taps() const { return (kernel + stride - 1) / stride; }
  std::vector<Phases> phases() const;
};

// Whether the filter has groups of one channel.
bool is_depthwise_filter(const exir::Node& convolution);

// The images that the convolution reads. `image` is its input, channels last. If they are slices,
// there is one for each slice of the window of a depthwise convolution, and one for each tap of a
// transposed one; else there is one.
std::vector<Id> volume_images(Lowering& l, const exir::Node& convolution, Id image, Volume volume);

// The sizes of the images that it makes.
Dims volume_sizes(const exir::Node& convolution, Volume volume);

// Its result, channels last, from such images.
Id volume_of_images(Lowering& l, const exir::Node& convolution, Id images);

}  // namespace taper::xnnpack
