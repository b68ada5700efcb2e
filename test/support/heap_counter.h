// Counts every call of the heap in this process: malloc, calloc, realloc, operator new, and what
// C++ containers do through them.

#pragma once

#include <cstdint>

namespace taper::test {

// Calls that asked for memory so far, from all threads. The first use switches the counting on.
uint64_t heap_calls();

}  // namespace taper::test
