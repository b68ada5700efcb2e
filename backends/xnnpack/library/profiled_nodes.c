// Tells of which nodes a profile is; see profiled_nodes.h.

#include "backends/xnnpack/library/profiled_nodes.h"

#include "xnnpack/subgraph.h"

uint32_t taper_defined_nodes(xnn_subgraph_t subgraph) { return subgraph->num_nodes; }

size_t taper_profiled_nodes(xnn_runtime_t runtime, uint32_t* nodes, size_t room) {
  size_t count = 0;
  for (size_t i = 0; i < runtime->num_ops; i++) {
    if (runtime->opdata[i].operator_objects[0] == NULL) continue;
    if (count < room) nodes[count] = (uint32_t)i;
    count++;
  }
  return count;
}
