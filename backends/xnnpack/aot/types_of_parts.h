// What the nodes of a payload compute in, for reports.

#pragma once

#include <string>
#include <vector>

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

// For each node of the part: "int8", "int8 rows, int4 weights", "float32: why"; empty for those of
// which nothing is left, such as a Convert that a neighbour does. None at all if nothing in the
// payload is quantised.
std::vector<std::string> types_of_parts(const NodeList& list, const std::vector<bool>& live);

}  // namespace taper::xnnpack
