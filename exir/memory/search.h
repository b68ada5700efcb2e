// Searches for a plan at the lower bound when no heuristic has found one.

#pragma once

#include <vector>

#include "exir/memory/packing.h"

namespace taper::exir {

// Replaces `best`, which is a plan of `rows` in the order `start`, if it finds a better one.
// Deterministic. Takes some tens of milliseconds, longer if the plan is far above the bound.
void search_plan(const std::vector<PlanRow>& rows, const RowOrder& start, MemoryPlan& best);

}  // namespace taper::exir
