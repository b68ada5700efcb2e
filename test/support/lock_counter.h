// Counts the mutexes that a test program locks. Who waits for a condition has locked its mutex
// before.

#pragma once

#include <cstdint>

namespace taper::test {

// How often all threads together have locked a mutex. Always 0 where that is not counted: under
// AddressSanitizer and ThreadSanitizer, which have functions of their own, and on Windows.
uint64_t lock_calls();
bool counts_locks();

}  // namespace taper::test
