// A workspace of XNNPACK whose memory is the caller's: what a graph computes on the way lies where
// the caller has room for it while that graph runs.

#pragma once

#include <stddef.h>
#include <xnnpack.h>

#ifdef __cplusplus
extern "C" {
#endif

// For one graph only. To be released as any other; the memory stays the caller's.
__attribute__((visibility("hidden"))) enum xnn_status taper_create_placed_workspace(
    xnn_workspace_t* workspace);

// What the graph needs at the sizes that it was reshaped to last.
__attribute__((visibility("hidden"))) size_t taper_workspace_bytes(xnn_workspace_t workspace);

// Says where these bytes are: not null, aligned to 64 bytes. From then on the graph has to be set
// up before it runs.
__attribute__((visibility("hidden"))) void taper_place_workspace(xnn_runtime_t runtime,
                                                                 void* memory);

#ifdef __cplusplus
}
#endif
