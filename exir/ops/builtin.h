// The operators that the compiler itself knows: PyTorch's, the device's and this runtime's.
//
// ops/aten_schemas.def holds the schema text of every operator that an exported program may name;
// ops/out_variants.def maps a functional operator to the out variant whose kernel runs it;
// ops/other_ops.def holds what PyTorch's tables lack. The user's own come from a declaration file.

#pragma once

#include <memory>
#include <string_view>

#include "exir/ir/registry.h"

namespace taper::exir {

// Made at the first call. Thread safe.
const Operators& builtin_operators();

// Reads the text form of a graph that calls no others; see graph.h.
std::unique_ptr<Graph> parse_graph(std::string_view text);

}  // namespace taper::exir
