// Counts what a test program takes from the heap and from the system: malloc, calloc, realloc,
// posix_memalign, memalign, aligned_alloc, operator new and mmap, including calls by C++
// containers. Those of libraries that it opens at run time, such as a GPU's driver, are not
// counted, except under AddressSanitizer and ThreadSanitizer.

#pragma once

#include <cstdint>

namespace taper::test {

// The number of allocations so far, by all threads; under AddressSanitizer and ThreadSanitizer, by
// the calling thread and without mmap. The first call starts the counting.
uint64_t heap_calls();

}  // namespace taper::test
