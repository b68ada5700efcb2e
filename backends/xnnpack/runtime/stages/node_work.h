// How much nodes compute and move, for people who compare that with what a processor can do.

#pragma once

#include "backends/xnnpack/runtime/graph/subgraph.h"

namespace taper::xnnpack {

struct NodeWork {
  double operations = 0;  // Additions and multiplications of products; 0 of other nodes.
  double bytes = 0;       // Of the values that are read and of the result.
};

// Of consecutive nodes that run as one step, with the current shapes: values between them do not
// count.
NodeWork work_of(const Subgraph& graph, Span<const XnnNode> nodes);

}  // namespace taper::xnnpack
