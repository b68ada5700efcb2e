// What the guards of a program say about the ranges of its symbols.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Narrows the ranges of symbols to what the guards allow, as far as bounds of expressions prove it,
// and drops the guards that the checked ranges imply (ir/checked_ranges.h). Throws Failure naming a
// guard that cannot hold within the ranges.
void apply_guards(Graph& graph);

}  // namespace taper::exir
