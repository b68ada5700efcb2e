// The nodes of a graph: operators found by name, arguments bound to their schema, results defined.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "exir/frontend/json.h"
#include "exir/frontend/scope.h"
#include "exir/ir/graph.h"

namespace taper::exir {

// "torch.ops.aten.add.Tensor" -> "aten::add.Tensor", "_operator.add" -> "python::add". Throws
// Failure if the text cannot be the name of an operator.
std::string import_target(std::string_view target);

// Appends the nodes of `json`, a Graph of the file whose inputs `scope` already knows. A Failure
// names the node and the line of the user's program.
void import_nodes(Json json, Scope& scope);

// A graph that is an argument of a node: all of it.
std::shared_ptr<Graph> import_subgraph(Json json, std::string_view name, ImportContext& context);

// Defines one input of a graph and returns it: a value with the role kInput, or a literal.
Argument import_input(Json argument, Scope& scope);

}  // namespace taper::exir
