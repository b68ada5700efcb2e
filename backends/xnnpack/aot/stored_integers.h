// Constants of floats that a payload of Taper's own stores as the integers they were made from, or
// as bytes that stand for the few numbers that occur: of weights for which XNNPACK has no form in
// bytes, such as a filter of a convolution of floats. The device computes the floats when it loads
// the payload. In the same way, constants of bytes whose integers have four bits are stored so.

#pragma once

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

inline constexpr size_t kSmallFloats = 1024;  // Bytes of floats that are not worth it.

inline constexpr size_t kSmallBytes = 256;  // Bytes of integers that are not, such as a table.

// Finds these integers for each constant that a live node reads.
void store_integers(NodeList& list, const std::vector<bool>& live);

}  // namespace taper::xnnpack
