// A heap that fails when a test says so: malloc() and its kin return null, operator new throws.

#pragma once

#include <cstdint>

namespace taper::test {

// The n-th allocation from now on fails, and only that one; 0: none does.
void fail_allocation(uint64_t n);

// Allocations since the program began, and how many of them were not given back yet. Of those that
// Taper asked for: not what a driver or the C library takes for itself.
uint64_t allocations();
int64_t live_allocations();

}  // namespace taper::test
