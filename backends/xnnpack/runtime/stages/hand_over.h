// Whether nodes are large enough to be divided among threads.

#pragma once

#include "backends/xnnpack/runtime/graph/subgraph.h"
#include "backends/xnnpack/runtime/stages/stage.h"

namespace taper::xnnpack {

// Returns the pool if it saves more time for nodes [first, last) of the graph than it costs to hand
// each of them to other threads, to fetch what they wrote before, and to wait for the last one;
// else null. Sizes count as they are in the graph now. If waking threads is to cost nothing, the
// pool is always returned.
pthreadpool_t pool_for(const Subgraph& graph, size_t first, size_t last, const Shared& shared);

}  // namespace taper::xnnpack
