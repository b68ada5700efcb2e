// Convolutions of images with few channels, such as the first of a network, read several pixels of
// a row as one:
//
//     before   x [1, 224, 224, 3] -> Conv2d (7 x 7, step 2) -> y [1, 112, 112, 64]
//     after    x -> Reshape [1, 224, 56, 12] -> Conv2d (7 x 3, step 2 x 1) -> [1, 112, 56, 128]
//                -> Reshape [1, 112, 112, 64] -> y
//
// XNNPACK's kernels take a fixed time for each tap of a window, and compute with at least four
// channels at a time. Here a tap is four pixels, and a window gives the results of several places,
// each with the filter's rows moved by its distance. What a place does not read has the weight 0,
// so the sums are the same.

#pragma once

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

// Changes the int8 convolutions for which it pays.
void merge_pixels(NodeList& list);

}  // namespace taper::xnnpack
