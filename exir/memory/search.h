// Looks for a plan at the lower bound when no heuristic has found one.

#pragma once

#include <vector>

#include "exir/memory/packing.h"

namespace taper::exir {

// Improves `best`, which is a plan of `rows` made in the order `start`; leaves it alone if it finds
// none better. Deterministic; takes some tens of milliseconds at most.
void search_plan(const std::vector<PlanRow>& rows, const RowOrder& start, MemoryPlan& best);

}  // namespace taper::exir
