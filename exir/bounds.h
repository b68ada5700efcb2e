// Upper bounds of symbolic sizes: memory is planned for them.

#pragma once

#include <set>
#include <string>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// Gives every symbol its bound in `bounds`, else that of the program, else, with a warning, its
// value at the sample inputs. A data-dependent size, such as that of masked_select, is bounded by
// the number of all elements, that of bincount() by the largest number that can be counted. Throws
// Failure if a given bound is outside of the range of its symbol, as the guards narrow it.
void bound_symbols(Graph& graph, const SymValues& bounds, std::vector<std::string>& warnings);

// The symbols that a bound may name, once bound_symbols() has read the guards.
std::set<std::string> symbols_of(const Graph& graph);

// Throws Failure if a bound is of what is none of the symbols.
void check_symbols(const SymValues& bounds, const std::set<std::string>& symbols);

// One diagnostic, worded as that of check_bounds(), for each symbol that bound_symbols() would
// bound by its value at the sample inputs.
std::vector<Diagnostic> sampled_symbols(Graph& graph, const SymValues& bounds);

// Throws Failure if the size of a tensor has no upper bound, naming every symbol that lacks one,
// where it comes from, and a remedy.
void check_bounds(Graph& graph);

}  // namespace taper::exir
