// Nodes between tensors that were quantised compute with the bytes.
//
//     before   x -> Convert -> Conv2d -> Convert -> y        after   x -> Conv2d -> y
//              (bytes)        (floats)         (bytes)               (bytes)
//
// What only moves elements goes before the Convert that makes floats, which brings it to where the
// floats are needed; what makes floats to make the same bytes again goes. A convolution or layer
// takes bytes of its weights if they were made from such, and its bias in steps of both scales.

#pragma once

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

void compute_in_bytes(NodeList& list);

}  // namespace taper::xnnpack
