// Finds weights to which a compiled program gives more bits than they need; for reports.

#pragma once

#include <string>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// A large constant of integers that fit in 2 or 4 bits, or of floats that fit in 8.
struct FewBits {
  std::string name;     // In the program, if it has one there.
  TensorData elements;  // As wide as they are in a file that wastes bits.
};

std::vector<FewBits> weights_of_few_bits(const Graph& graph);

// The large constants of floats that have codes, with their floats.
std::vector<FewBits> weights_with_codes(const Graph& graph);

// The names of those whose elements are stored as they are here, in any order, as constants of the
// compiled graph or in the payload of a delegate.
std::vector<std::string> stored_wide(const std::vector<FewBits>& weights, const Graph& compiled);

}  // namespace taper::exir
