// What XNNPACK's profile leaves out: of which nodes of a graph it is (nodes that are fused into
// others have no operator, and the profile does not say which have), and times below a microsecond.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <xnnpack.h>

#ifdef __cplusplus
extern "C" {
#endif

struct taper_profiled_node {
  uint32_t node;  // Counted from 0 in the order of definition.
  double seconds;
};

// The number of nodes that have been defined so far.
__attribute__((visibility("hidden"))) uint32_t taper_defined_nodes(xnn_subgraph_t subgraph);

// Describes each operator of the profile of the last run, in the order of the profile. Writes at
// most `room` of them; returns how many there are. REQUIRES: the runtime has run, with
// XNN_FLAG_BASIC_PROFILING.
__attribute__((visibility("hidden"))) size_t taper_profiled_nodes(xnn_runtime_t runtime,
                                                                  struct taper_profiled_node* nodes,
                                                                  size_t room);

#ifdef __cplusplus
}
#endif
