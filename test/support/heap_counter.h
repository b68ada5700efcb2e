// Counts all heap allocations in this process: malloc, calloc, realloc and operator new, including
// those by C++ containers.

#pragma once

#include <cstdint>

namespace taper::test {

// The number of allocations so far, by all threads. The first call starts the counting.
uint64_t heap_calls();

}  // namespace taper::test
