// An XNNPACK workspace in memory that the caller provides: intermediate results of a graph lie
// wherever the caller has room while that graph runs.

#pragma once

#include <stddef.h>
#include <xnnpack.h>

#ifdef __cplusplus
extern "C" {
#endif

// Creates a workspace for a single graph. It is released like any other; the memory stays the
// caller's.
__attribute__((visibility("hidden"))) enum xnn_status taper_create_placed_workspace(
    xnn_workspace_t* workspace);

// The bytes that the graph needs for the sizes to which it was last reshaped.
__attribute__((visibility("hidden"))) size_t taper_workspace_bytes(xnn_workspace_t workspace);

// Sets the memory: not null, aligned to 64 bytes. After this the graph has to be set up before it
// runs.
__attribute__((visibility("hidden"))) void taper_place_workspace(xnn_runtime_t runtime,
                                                                 void* memory);

#ifdef __cplusplus
}
#endif
