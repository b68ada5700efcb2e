// Counts the calls of the heap that this program makes: malloc, calloc, realloc, operator new, and
// what C++ containers do through them. Libraries that it opens at run time, such as a driver of a
// GPU, do not count, except under AddressSanitizer.

#pragma once

#include <cstdint>

namespace taper::test {

// Calls that asked for memory so far, from all threads. The first use switches the counting on.
uint64_t heap_calls();

}  // namespace taper::test
