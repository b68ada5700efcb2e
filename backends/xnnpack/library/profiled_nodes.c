// Tells of which nodes a profile is, and for how long they ran; see profiled_nodes.h.

#include "backends/xnnpack/library/profiled_nodes.h"

#include "xnnpack/subgraph.h"

static double seconds_between(const xnn_timestamp* start, const xnn_timestamp* end) {
#ifdef __MACH__
  return (double)(*end - *start) * 1e-9;
#elif defined(_WIN32)
  LARGE_INTEGER ticks_per_second;
  QueryPerformanceFrequency(&ticks_per_second);
  return (double)(end->QuadPart - start->QuadPart) / (double)ticks_per_second.QuadPart;
#else
  return (double)(end->tv_sec - start->tv_sec) + (double)(end->tv_nsec - start->tv_nsec) * 1e-9;
#endif
}

uint32_t taper_defined_nodes(xnn_subgraph_t subgraph) { return subgraph->num_nodes; }

size_t taper_profiled_nodes(xnn_runtime_t runtime, struct taper_profiled_node* nodes,
                            size_t room) {
  size_t count = 0;
  xnn_timestamp last = runtime->start_ts;
  for (size_t i = 0; i < runtime->num_ops; i++) {
    const struct xnn_operator_data* operator = &runtime->opdata[i];
    if (operator->operator_objects[0] == NULL) continue;
    struct taper_profiled_node described = {(uint32_t)i, 0};
    for (size_t j = 0; j < XNN_MAX_OPERATOR_OBJECTS; j++) {
      if (operator->operator_objects[j] == NULL) continue;
      described.seconds += seconds_between(&last, &operator->end_ts[j]);
      last = operator->end_ts[j];
    }
    if (count < room) nodes[count] = described;
    count++;
  }
  return count;
}
