// Functions between bytes become tables of 256 bytes:
//
//     before   x -> Convert -> Sigmoid -> s                  after   x -> ByteTable -> y
//              (bytes)      -> Multiply(s) -> Convert -> y           (bytes)
//                                           (bytes)
//
// Any number of nodes is one table if together they compute each element of the result from the
// same element of one tensor of bytes. XNNPACK's own int8 nodes stay: they are part of its graph.

#pragma once

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

// Changes the list as described above. What computed the functions is not read any more.
void use_byte_tables(NodeList& list);

}  // namespace taper::xnnpack
