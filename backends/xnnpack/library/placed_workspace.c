// Creates workspaces whose memory the caller provides; see placed_workspace.h.

#include "backends/xnnpack/library/placed_workspace.h"

#include "xnnpack/subgraph.h"

enum xnn_status taper_create_placed_workspace(xnn_workspace_t* workspace) {
  const enum xnn_status status = xnn_create_workspace(workspace);
  if (status != xnn_status_success) return status;
  (*workspace)->is_placed = true;
  // Any address but null, which means that there is no memory yet.
  (*workspace)->data = (void*)(uintptr_t)XNN_ALLOCATION_ALIGNMENT;
  return status;
}

size_t taper_workspace_bytes(xnn_workspace_t workspace) { return workspace->size; }

// Rebases a pointer. Null, which means no memory, stays null.
static void* moved(void* pointer, const char* from, char* to) {
  return pointer != NULL ? to + ((const char*)pointer - from) : NULL;
}

void taper_place_workspace(xnn_runtime_t runtime, void* memory) {
  const char* from = runtime->workspace->data;
  runtime->workspace->data = memory;
  for (size_t i = 0; i < runtime->num_values; i++) {
    struct xnn_value* value = &runtime->values[i];
    if (value->allocation_type != xnn_allocation_type_workspace) continue;
    value->data = moved(value->data, from, memory);
    if (value->datatype != xnn_datatype_qdint8) continue;
    value->quantization.dynamic_params = moved(value->quantization.dynamic_params, from, memory);
  }
  for (size_t i = 0; i < runtime->num_ops; i++) {
    runtime->opdata[i].workspace = moved(runtime->opdata[i].workspace, from, memory);
  }
}
