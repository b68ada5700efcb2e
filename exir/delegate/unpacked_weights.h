// Finds weights to which a compiled program gives more bits than they need; for reports.

#pragma once

#include <string>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// A large constant of integers that fit in 2 or 4 bits.
struct FewBits {
  std::string name;  // In the program, if it has one there.
  TensorData integers;
};

std::vector<FewBits> weights_of_few_bits(const Graph& graph);

// The names of those that are stored with a byte for each integer, as constants of the compiled
// graph or in the payload of a delegate.
std::vector<std::string> stored_in_bytes(const std::vector<FewBits>& weights,
                                         const Graph& compiled);

}  // namespace taper::exir
