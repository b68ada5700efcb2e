// Requests pages that will certainly be used from the system in a single call. Fetched one by one
// when they are touched, they cost several times as much, and more than running a small graph.

#pragma once

#include <cstddef>

namespace taper::xnnpack {

// Fetches the pages of a mapped file before it is read.
void map_ahead(const void* bytes, size_t size);
// Fetches new memory that is going to be written completely. Existing contents are kept.
void take_ahead(void* bytes, size_t size);

// Initialises XNNPACK with an allocator that does so. False if it has no kernels for this
// processor. Threads: may be called several times, and from several threads at once.
bool start_library();

}  // namespace taper::xnnpack
