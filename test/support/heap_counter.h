// Counts the heap allocations that this program makes: malloc, calloc, realloc and operator new,
// including those by C++ containers. Those of libraries that it opens at run time, such as a GPU's
// driver, are not counted, except under AddressSanitizer and ThreadSanitizer.

#pragma once

#include <cstdint>

namespace taper::test {

// The number of allocations so far, by all threads; under AddressSanitizer and ThreadSanitizer, by
// the calling thread. The first call starts the counting.
uint64_t heap_calls();

}  // namespace taper::test
