// Padding with zeros before a convolution becomes padding of the convolution, and padding with
// negative infinity before a max pool that of the pool:
//
//     before   x -> ConstantPad (0; 0 above and left, 1 below and right) -> Conv2d -> y
//     after    x -> Conv2d (padding 0, 1, 1, 0) -> y
//
// So do padding and a transpose to channels last. Models that came from TensorFlow pad each
// convolution of step 2 by itself, because PyTorch's has the same padding on both sides; XNNPACK's
// may differ.

#pragma once

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

// Nodes whose results are no longer read stay in the list.
void fold_pads(NodeList& list);

}  // namespace taper::xnnpack
