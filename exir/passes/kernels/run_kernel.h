// Runs one node at compile time, with the kernel that the device would run.

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// The bytes of a tensor argument, dense in its dim order; null if they are not known.
using DataOf = std::function<const TensorData*(const Value*)>;

// The results of the node, one per output. nullopt if the operator has no out variant or kernel, if
// an argument or size is not known, or if the kernel refuses the arguments.
std::optional<std::vector<TensorData>> run_kernel(const Node& node, const DataOf& data_of);

}  // namespace taper::exir
