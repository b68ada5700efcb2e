// Storages divided among several memories: `sram=256K,dram`.
//
// The wire names buffers by number (memory_id), and an application gives each its memory. What is
// alive for the fewest steps goes into the first buffer, as long as there is room: a byte that is
// written, read and free again moves more data through fast memory than one that waits. State,
// which never dies, and what fits nowhere else goes to the last, which has no bound unless one is
// given.

#pragma once

#include <string>
#include <vector>

#include "exir/memory/plan.h"

namespace taper::exir {

struct MemoryBuffer {
  std::string name;
  uint64_t bytes = UINT64_MAX;  // At most.
};

// With no buffers, or one without a bound, the same as plan_memory(). Throws Failure naming what
// does not fit.
MemoryPlan place_memory(const std::vector<PlanRow>& rows, uint64_t alignment,
                        const std::vector<MemoryBuffer>& buffers);

}  // namespace taper::exir
