// A heap that fails when a test says so: malloc() and its kin return null, operator new throws.

#pragma once

#include <cstdint>

namespace taper::test {

// The n-th allocation from now on fails, and only that one; 0: none does.
void fail_allocation(uint64_t n);

// From now on each allocation asks this function whether it fails, but for those that the function
// itself makes; null: none asks.
void ask_before_allocations(bool (*fails)());

// Allocations since the program began, and how many of them were not given back yet. Of those that
// Taper asked for: not what a driver or the C library takes for itself.
uint64_t allocations();
int64_t live_allocations();

// What this thread allocates while one lives is not counted among allocations() and does not fail.
class SparedAllocations {
 public:
  SparedAllocations();
  SparedAllocations(const SparedAllocations&) = delete;
  SparedAllocations& operator=(const SparedAllocations&) = delete;
  ~SparedAllocations();
};

}  // namespace taper::test
