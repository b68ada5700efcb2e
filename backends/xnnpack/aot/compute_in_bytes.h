// Turns float nodes between quantised tensors into int8 nodes ("bytes").
//
//     before   x -> Convert -> Conv2d -> Convert -> y        after   x -> Conv2d -> y
//              (bytes)        (floats)         (bytes)               (bytes)
//
// Nodes that only move elements go before the Convert to floats, so that it comes right before the
// nodes that need floats, and behind a Convert to bytes, so that it comes right behind those that
// make them; a Convert to floats and back to the same bytes is removed. One behind a concatenation
// goes before it, to each of the tensors, since their scales may differ. A convolution or linear
// layer takes int8 weights if its weights were dequantised from int8, and its bias as a multiple of
// the product of the scales of input and weights. An average pool becomes a depthwise convolution,
// repeated pixels a concatenation.

#pragma once

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

// XNNPACK's int8 kernels compute so many channels of a group at once, however many it has, and
// those of floats as few as two: with fewer, floats are faster.
inline constexpr uint32_t kFewestChannels = 16;

struct ByteOptions {
  // Functions that XNNPACK does not compute in bytes become tables (byte_tables.h).
  bool takes_tables;
  // Convolutions whose weights have zero points multiply integers (wide_weights.h).
  bool splits_weights;
};

// Changes the list as described above.
void compute_in_bytes(NodeList& list, const ByteOptions& options);

}  // namespace taper::xnnpack
