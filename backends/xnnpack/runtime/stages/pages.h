// Pages that are sure to be used, asked of the system in one go: fetched one by one, as each is
// touched, they cost several times as much, and more than a small graph takes to run.

#pragma once

#include <cstddef>

namespace taper::xnnpack {

// Asks for the pages of a mapped file before it is read.
void map_ahead(const void* bytes, size_t size);
// Fresh memory that is going to be written, all of it. What is there already stays as it is.
void take_ahead(void* bytes, size_t size);

// Starts XNNPACK, with memory that it takes in that way. False if it has no kernels for this
// processor. Threads: may be called at once, and again.
bool start_library();

}  // namespace taper::xnnpack
