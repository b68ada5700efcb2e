// Packs storages into one arena.
//
// The input is one row per storage: the first and last step at which it is alive, and its size. Two
// rows may share bytes if and only if their lifetimes do not overlap. An optimal plan is NP-hard to
// find, so several orders are tried (largest first, longest first, largest area first, by start),
// each row at the lowest or the tightest gap that fits; the smallest arena wins, and the search
// ends early when it reaches the lower bound: the most bytes alive at any one step.
//
//     step      0    1    2    3
//     %0  64 B  [=======]             offset  0
//     %1  64 B       [=======]        offset 64      %0 is still alive at step 1
//     %2  64 B            [=======]   offset  0      reuses the bytes of %0
//     arena = 128 B = lower bound, gap 0 %
//
// Nothing downstream trusts the result: check_plan() proves that no two live rows overlap.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace taper::exir {

struct PlanRow {
  size_t first = 0;  // The first step at which it is alive,
  size_t last = 0;   // and the last one, inclusive.
  uint64_t bytes = 0;
};

struct MemoryPlan {
  std::vector<uint64_t> offsets;       // One per row, multiples of the alignment.
  std::vector<size_t> buffers;         // The buffer that each row lies in.
  std::vector<uint64_t> buffer_bytes;  // The size of each buffer: one, unless placement.h is used.
  uint64_t arena_bytes = 0;            // The size of all buffers together.
  uint64_t naive_bytes = 0;            // The size without any sharing.
  uint64_t lower_bound = 0;            // No plan for these lifetimes is smaller.
  std::string heuristic;               // The order that won.

  // How far arena_bytes is above the lower bound, in percent.
  double gap_percent() const;
};

// REQUIRES: alignment is a power of two. Throws Failure if the sizes overflow.
MemoryPlan plan_memory(const std::vector<PlanRow>& rows, uint64_t alignment);

// Throws Failure naming two rows that overlap in time and bytes, or one outside its buffer. Shares
// no code with the planner, so that a defect of the planner is found here.
void check_plan(const std::vector<PlanRow>& rows, const MemoryPlan& plan, uint64_t alignment);

}  // namespace taper::exir
