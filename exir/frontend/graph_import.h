// Imports the nodes of a graph: looks operators up by name, binds arguments to their schema,
// defines the results.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "exir/frontend/json.h"
#include "exir/frontend/scope.h"
#include "exir/ir/graph.h"

namespace taper::exir {

// Appends the nodes of `json`, a Graph of the file whose inputs `scope` already knows. A Failure
// names the node and the line of the user's program.
void import_nodes(Json json, Scope& scope);

// Imports a subgraph, the argument of a control-flow node of `outer`, with its inputs and outputs.
std::shared_ptr<Graph> import_subgraph(Json json, std::string_view name, Scope& outer);

// Defines one input of a graph and returns it: a value with the role kInput, or a literal.
Argument import_input(Json argument, Scope& scope);

// Reads a tensor that a weight saved as an object holds: (weight, its name). No such call is left
// of a weight that can be read.
inline constexpr std::string_view kInnerTensor = "export::access_subclass_inner_tensor";

}  // namespace taper::exir
