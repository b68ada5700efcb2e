// Lets every allocation of a scenario fail once, each in a copy of the process.

#pragma once

#include <cstdint>
#include <functional>

namespace taper::test {

// Where the copy is made in which an allocation fails.
enum class Copied : uint8_t {
  kAtTheAllocation,  // There; threads that run then are not in the copy.
  kAtTheBeginning,   // Before the scenario, which takes longer.
};

// The scenario returns whether it ended as it may: without the memory, or in the right error. It
// must give back everything. All of that is expected of each copy; the test is skipped where the
// heap does not fail, with sanitizers.
//
// At most 1000 allocations fail, evenly spread; with TAPER_FAULTS=all every one of them, and then
// their number is printed. TAPER_FAULT=N lets only the N-th fail, in this process, for a debugger.
void every_allocation_fails_once(const std::function<bool()>& scenario,
                                 Copied copied = Copied::kAtTheAllocation);

}  // namespace taper::test
