// Convolutions whose windows are patches: they lie side by side and cover the image, as at the
// start of a vision transformer. Each patch of a plain image is gathered by one transpose, and is a
// row of a linear layer; XNNPACK's convolution would multiply a few channels at a time.

#pragma once

#include "backends/xnnpack/aot/lowering.h"

namespace taper::xnnpack {

// The result of a convolution of two dimensions as an image; kNone if its windows are no patches,
// or if it is better left as it is.
Id patch_rows(Lowering& lowering, const exir::Node& convolution, const Window& window);

}  // namespace taper::xnnpack
