// Divides storages among several memories: `sram=256K,dram`.
//
// The file format numbers buffers (memory_id), and the application provides the memory of each.
// Storages with the shortest lifetimes go into the first buffer while there is room: memory that is
// soon free again serves more storages, so more accesses go to the fast memory. State, which lives
// throughout, and what fits nowhere else goes to the last buffer, which is unbounded unless a size
// is given.

#pragma once

#include <string>
#include <vector>

#include "exir/memory/plan.h"

namespace taper::exir {

struct MemoryBuffer {
  std::string name;
  uint64_t bytes = UINT64_MAX;  // Its size; the default is unbounded.
};

// Without buffers, or with a single unbounded one, the same as plan_memory(). Throws Failure naming
// what does not fit.
MemoryPlan place_memory(const std::vector<PlanRow>& rows, uint64_t alignment,
                        const std::vector<MemoryBuffer>& buffers);

}  // namespace taper::exir
