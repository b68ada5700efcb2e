// Which nodes of a graph XNNPACK's profile is about: it names operators and tells their times, but
// nodes that are fused into others have no operator, and the profile does not say which have.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <xnnpack.h>

#ifdef __cplusplus
extern "C" {
#endif

// The number of nodes that have been defined so far.
__attribute__((visibility("hidden"))) uint32_t taper_defined_nodes(xnn_subgraph_t subgraph);

// Writes, for each operator of the profile in its order, the number of the node that it is from,
// counted from 0 in the order of definition. At most `room` numbers; returns how many there are.
__attribute__((visibility("hidden"))) size_t taper_profiled_nodes(xnn_runtime_t runtime,
                                                                  uint32_t* nodes, size_t room);

#ifdef __cplusplus
}
#endif
