// Convolutions of volumes as convolutions of images, which is all that XNNPACK has.
//
// A volume is [n, d, h, w, c], channels last. If the window is 1 high and wide, its columns are
// images [n, d, h * w, c] with windows along their height. Otherwise the images are slices,
// [n * d, h, w, c]. A window that is k deep reads k slices at a time, one after another along the
// channels: [n * d, h, w, k * c].

#pragma once

#include <string>

#include "backends/xnnpack/aot/lowering.h"

namespace taper::xnnpack {

// Which images a volume is, for a convolution.
enum class Volume { kNone, kSlices, kColumns };

// kNone unless the input has rank 5.
Volume volume_of(const exir::Node& convolution);

// Why a convolution of a volume is not taken; empty if it is.
std::string volume_refusal(const exir::Node& convolution);

// The images that the convolution reads. `image` is its input, channels last.
Id volume_images(Lowering& l, const exir::Node& convolution, Id image, Volume volume);

// The sizes of the images of its result.
Dims volume_sizes(const exir::Value* result, Volume volume);

}  // namespace taper::xnnpack
