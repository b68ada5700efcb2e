// Upper bounds of the sizes that a program leaves open: memory is planned for them.

#pragma once

#include <string>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// Gives every symbol the bound in `bounds`, or that of the program, or with a warning its value at
// the sample inputs; how many elements a call chooses, as by a mask, the number of all of them.
// Throws Failure if a given bound is below what the program needs.
void bound_symbols(Graph& graph, const SymValues& bounds, std::vector<std::string>& warnings);

// The symbols that bound_symbols() would bound by their value at the sample inputs: one diagnostic
// each, as check_bounds() words it.
std::vector<Diagnostic> sampled_symbols(Graph& graph, const SymValues& bounds);

// Throws Failure if the size of a tensor has no upper bound, naming every symbol that lacks one,
// where it comes from and what to write there.
void check_bounds(Graph& graph);

}  // namespace taper::exir
